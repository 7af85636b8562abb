import { randomUUID } from 'node:crypto';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { readMapping } from '@svc/jsonl-v23/mapping';
import { createRedactor, runWithContext } from '@svc/observability';
import {
  invalidMember,
  invalidRequest,
  json,
  jsonBody,
  ok,
  type Route,
  shape,
  toJsonText,
} from '@svc/service';
import {
  encodeRequest,
  hubSource,
  type ImportJobRequest,
  openPreview,
  toHubSource,
  toImportRequest,
} from '@svc/service/flows';
import {
  checkHandle,
  type IdempotencyClaim,
  type ImportTarget,
  type StoredResponse,
} from '@svc/service/store';
import { classify } from '../../http/problem.ts';
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
import { COUNT_OR_NULL, DATASET_SUMMARY, HANDLE, NAME, OPTIONAL_TEXT, TEXT } from '../docs/schemas.ts';
import { enqueueJob, JOB } from '../jobs.ts';
import { HUB_ERRORS, IMPORTED, MAPPING, PREVIEW, SOURCE, serializePreview } from './schema.ts';

const HUB = { method: 'post', tag: 'hub', access: 'editor' } as const;

export function hubImportRoute(deps: RouteDeps): Route {
  const { config, hub, store } = deps;
  return {
    ...HUB,
    path: '/datasets/hub/import',
    operationId: 'importHubDataset',
    summary: 'Import a slice of a hub dataset under a column mapping',
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
  const request = encodeRequest(importRequest);
  return await enqueueJob(deps, { id, kind: 'import', request, sealedToken }, claim);
}

export function hubPreviewRoute({ config, hub }: RouteDeps): Route {
  return {
    ...HUB,
    path: '/datasets/hub/preview',
    operationId: 'previewHubDataset',
    summary: 'Preview a hub dataset; nothing is stored',
    body: jsonBody(
      {
        ...SOURCE,
        mapping: { ...MAPPING, type: ['object', 'null'] },
        limit: { type: ['integer', 'null'], minimum: 1, maximum: 100, default: 10 },
      },
      ['path'],
    ),
    responses: ok('the preview', PREVIEW),
    errors: [...HUB_ERRORS, 'column_not_found'],
    handle: async ({ body, signal }) => {
      const request = toHubSource(body);
      return await withToken(request.token, async () => {
        const limit = (body['limit'] as number | null) ?? 10;
        const sent = body['mapping'] as JsonObject | null | undefined;
        const mapping = sent == null ? null : readMapping(sent);
        const { head, readSamples } = await openPreview(hub, request, mapping, signal);
        const rest = `${toJsonText(serializePreview({ ...head, ...NO_ROWS, items: mapping && [] }))}\n`;
        const samples = await readSamples(limit, config.maxPreviewBytes - Buffer.byteLength(rest));
        return json(serializePreview({ ...head, ...samples }));
      });
    },
  };
}

const NO_ROWS = { samples: [], truncatedCells: [], suggestion: null } as const;

export function findHubDatasetsRoute({ hub }: RouteDeps): Route {
  return {
    ...HUB,
    method: 'get',
    path: '/hub/datasets',
    operationId: 'findHubDatasets',
    summary: 'Search datasets of the hub by name, the most downloaded first',
    query: {
      q: { type: 'string', minLength: 1, maxLength: 200, description: 'part of the name' },
      limit: { type: 'integer', minimum: 1, maximum: 50, default: 20 },
    },
    responses: ok(
      'what the hub finds, with the token of the service',
      shape({
        data: {
          type: 'array',
          items: shape({
            id: TEXT,
            downloads: COUNT_OR_NULL,
            likes: COUNT_OR_NULL,
            gated: {
              type: 'boolean',
              description: 'whether its files need a token that was granted access',
            },
          }),
        },
      }),
    ),
    errors: HUB_ERRORS,
    handle: async ({ query, signal }) => {
      if (query['q'] === undefined) throw invalidMember('query', 'q', 'must be present');
      const found = await hub.findDatasets(String(query['q']), {
        limit: query['limit'] as number,
        signal,
      });
      return json({
        data: found.map(({ id, downloads, likes, isGated }) => ({ id, downloads, likes, gated: isGated })),
      });
    },
  };
}

/** Runs with the token of a request redacted in every log line, and in internal errors, which are logged afterwards. */
async function withToken<T>(token: string | undefined, run: () => Promise<T>): Promise<T> {
  if (token === undefined) return await run();
  try {
    return await runWithContext({}, run, { secrets: [token] });
  } catch (error) {
    throw classify(error).code === 'internal' ? withoutToken(error, token) : error;
  }
}

function withoutToken(error: unknown, token: string): Error {
  const redact = createRedactor([token]);
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const redacted = new Error(redact(message));
  redacted.name = name;
  redacted.stack = redact(stack ?? '');
  return redacted;
}
