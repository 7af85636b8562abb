import { randomUUID } from 'node:crypto';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { invalidRequest, jsonBody, type Route } from '@svc/service';
import { encodeImportRequest, hubSource, type ImportJobRequest, toImportRequest } from '@svc/service/flows';
import { checkHandle, type IdempotencyClaim, type ImportTarget, type StoredResponse } from '@svc/store';
import {
  IDEMPOTENCY_KEY,
  PREFER,
  prefersAsync,
  requestDigest,
  withIdempotency,
} from '../../http/request-headers.ts';
import {
  CHANGE_HEADERS,
  changeFacts,
  dryRunNow,
  IF_EXISTS,
  type IfExists,
  importNow,
  importOperation,
  importTarget,
  MESSAGE,
  MESSAGE_OR_NULL,
  TARGET_ERRORS,
} from '../datasets/change.ts';
import type { RouteDeps } from '../deps.ts';
import { DATASET_SUMMARY, HANDLE, NAME, OPTIONAL_TEXT } from '../docs/schemas.ts';
import { enqueueJob, JOB } from '../jobs.ts';
import { withToken } from './preview.ts';
import { HUB_ERRORS, IMPORTED, MAPPING } from './schema.ts';

/** `POST /datasets/hub/import` */
export function hubImportRoute(deps: RouteDeps): Route {
  const { config, hub, store } = deps;
  return {
    method: 'post',
    path: '/datasets/hub/import',
    operationId: 'importHubDataset',
    summary: 'Import a slice of a hub dataset under a column mapping',
    tag: 'hub',
    access: 'editor',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY, Prefer: PREFER, ...CHANGE_HEADERS },
    query: {
      dry_run: { type: 'boolean', default: false, description: 'convert every row without storing anything' },
      ...IF_EXISTS,
      message: MESSAGE,
    },
    body: jsonBody(
      {
        name: NAME,
        handle: HANDLE,
        message: MESSAGE_OR_NULL,
        description: OPTIONAL_TEXT,
        config: { type: 'object', properties: IMPORTED, required: ['path'], additionalProperties: false },
        mapping: MAPPING,
      },
      ['name', 'config', 'mapping'],
    ),
    produces: 'application/json',
    responses: {
      200: { description: 'with `if_exists=reuse`: the existing dataset', schema: DATASET_SUMMARY },
      201: { description: 'the stored dataset', schema: DATASET_SUMMARY },
      202: { description: 'with `respond-async`: the job that imports it', schema: JOB },
    },
    errors: [
      ...HUB_ERRORS,
      ...TARGET_ERRORS,
      'column_not_found',
      'assets_not_object',
      'invalid_row',
      'package_limit',
      'idempotency_key_reused',
      'unavailable',
    ],
    handle: async (request) => {
      const { body, query, signal } = request;
      const importRequest = toImportRequest(body);
      if (importRequest.config.subset !== undefined && importRequest.config.subsets !== undefined)
        throw invalidRequest('/config/subsets', '`subset` and `subsets` cannot be given together.');
      const ifExists = query['if_exists'] as IfExists | undefined;
      const { handle, message } = body as Readonly<Record<'handle' | 'message', string | null | undefined>>;
      if (handle != null) checkHandle(handle);
      const facts = changeFacts(request, message);
      const targetOf = (): Promise<ImportTarget> =>
        importTarget(store.datasets, { ...facts, handle: handle ?? null, ifExists, source: 'hub', signal });
      return await withToken(importRequest.token, async () => {
        const source = hubSource(hub, importRequest, { maxItemBytes: config.maxLineBytes });
        if (query['dry_run'] === true) {
          return await dryRunNow(deps, { source, target: await targetOf() }, signal);
        }
        const isAsync = prefersAsync(request.header('prefer'));
        const digest = (): Uint8Array =>
          requestDigest(importOperation('POST /datasets/hub/import', request), isAsync, canonicalJson(body));
        return await withIdempotency(request, store.idempotency, digest, async (claim) => {
          const target = await targetOf();
          return isAsync
            ? await enqueueImport(deps, { ...importRequest, target }, claim)
            : await importNow(deps, { source, target }, signal, claim);
        });
      });
    },
  };
}

/** Makes a job of an import. @throws RequestError `invalid_request` for a token that cannot be encrypted */
async function enqueueImport(
  deps: RouteDeps,
  importRequest: ImportJobRequest,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const { tokenCipher } = deps;
  const id = randomUUID();
  const { token } = importRequest;
  if (token !== undefined && tokenCipher === null) {
    const message =
      'Cannot encrypt the token for an asynchronous import: set SVC_JOB_KEY, import without respond-async, or configure HUB_TOKEN on the workers.';
    throw invalidRequest('/config/token', message);
  }
  const encrypted = token === undefined ? undefined : tokenCipher?.encrypt(id, token);
  const sealedToken = encrypted === undefined ? undefined : Buffer.from(encrypted);
  const request = encodeImportRequest(importRequest);
  return await enqueueJob(deps, { id, kind: 'import', request, sealedToken }, claim);
}
