import { SECTION_NAME_PATTERN } from '@svc/jsonl-v23/internal';
import { invalidRequest, type Route, type RouteRequest, type RouteResponse, type Schema } from '@svc/service';
import type { DatasetChange } from '@svc/store';
import { receiveLinesOrUpload } from '../../http/receive-upload.ts';
import { IDEMPOTENCY_KEY, PREFER } from '../../http/request-headers.ts';
import { JOB } from '../jobs/serialize.ts';
import { importUpload, UPLOAD_ERRORS, type UploadDeps } from '../uploads/upload.ts';
import { UPLOAD_FIELDS, UPLOAD_FORM } from '../uploads/upload-form.ts';
import { CHANGE_HEADERS, CHANGE_RESPONSES, changeFacts, DRY_RUN_QUERY, MESSAGE } from './change.ts';

/** The query of a change. */
const QUERY: Readonly<Record<string, Schema>> = {
  mode: {
    type: 'string',
    enum: ['append', 'upsert', 'replace'],
    description:
      '`append` adds items to the end of their sections; `upsert` replaces the items with the same `id` and appends the others; `replace` replaces all items',
  },
  section: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: SECTION_NAME_PATTERN,
    'x-rule': 'must have no control characters',
    format: 'storable-text',
    description:
      'section for a body that names none; by default the only section of the dataset, or `default`',
  },
  message: MESSAGE,
  dry_run: DRY_RUN_QUERY,
};

/** `POST /datasets/{id}/items`: the next version of a dataset, from all that an upload may be. */
export function changeItemsRoute(deps: UploadDeps): Route {
  return {
    method: 'post',
    path: '/datasets/{id}/items',
    operationId: 'changeItems',
    summary:
      'Append, upsert or replace items: the next version of a dataset. The body is the form of an upload, or `application/jsonl`: a line for each item',
    tag: 'datasets',
    access: 'editor',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY, Prefer: PREFER, ...CHANGE_HEADERS },
    query: QUERY,
    // Generators of clients read one media type of a body.
    body: { contentType: 'multipart/form-data', schema: UPLOAD_FORM },
    produces: 'application/json',
    responses: {
      ...CHANGE_RESPONSES,
      202: { description: 'with `respond-async`: the job that makes it', schema: JOB },
    },
    errors: [
      ...UPLOAD_ERRORS,
      'mapping_required',
      'idempotency_key_reused',
      'dataset_not_found',
      'version_changed',
      'ambiguous_id',
    ],
    handle: (request) => change(deps, request),
  };
}

async function change(deps: UploadDeps, request: RouteRequest): Promise<RouteResponse> {
  const { params, query } = request;
  const datasetId = params['id'] ?? '';
  const mode = query['mode'] as Exclude<DatasetChange['mode'], 'edit'> | undefined;
  if (mode === undefined) {
    throw invalidRequest('mode', 'Invalid query: mode must be append, upsert or replace, got none.');
  }
  const section = query['section'] as string | undefined;
  const { ifMatch, ...stated } = changeFacts(request, null);
  // What is wrong with a request that has no dataset is said before its body is read.
  await deps.store.datasets.get(datasetId, { signal: request.signal });
  return await importUpload(deps, request, {
    names: [...UPLOAD_FIELDS, 'message'],
    operation: `POST /datasets/items ${JSON.stringify([datasetId, mode, section, ifMatch, stated.message])}`,
    receive: receiveLinesOrUpload,
    targetOf: ({ message }) => ({
      kind: 'version',
      change: { datasetId, mode, section, ...changeFacts(request, message) },
    }),
  });
}
