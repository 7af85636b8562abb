import { SECTION_NAME_PATTERN } from '@svc/jsonl-v23';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import {
  invalidRequest,
  jsonBody,
  type Route,
  type RouteRequest,
  type RouteResponse,
  type Schema,
} from '@svc/service';
import { type EditedItem, editsSource, type ItemText } from '@svc/service/flows';
import type { DatasetChange, Edit } from '@svc/service/store';
import { receiveLinesOrUpload } from '../../http/receive-upload.ts';
import { IDEMPOTENCY_KEY, PREFER, requestDigest, withIdempotency } from '../../http/request-headers.ts';
import type { RouteDeps } from '../deps.ts';
import { STATED_HASH } from '../docs/schemas.ts';
import { JOB } from '../jobs.ts';
import { importUpload, UPLOAD_ERRORS, UPLOAD_FIELDS, UPLOAD_FORM } from '../uploads/upload.ts';
import {
  CHANGE_HEADERS,
  CHANGE_RESPONSES,
  changeFacts,
  DATASET_CHANGE,
  DRY_RUN_QUERY,
  dryRunNow,
  importNow,
  MESSAGE,
  MESSAGE_OR_NULL,
} from './change.ts';

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

export function changeItemsRoute(deps: RouteDeps): Route {
  return {
    ...DATASET_CHANGE,
    path: '/datasets/{id}/items',
    operationId: 'changeItems',
    summary:
      'Append, upsert or replace items: the next version of a dataset. The body is the form of an upload, or `application/jsonl`: a line for each item',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY, Prefer: PREFER, ...CHANGE_HEADERS },
    query: QUERY,
    // Generators of clients read one media type of a body.
    body: { contentType: 'multipart/form-data', schema: UPLOAD_FORM },
    responses: {
      ...CHANGE_RESPONSES,
      202: { description: 'with `respond-async`: the job that makes it', schema: JOB },
    },
    errors: [...UPLOAD_ERRORS, 'mapping_required', 'ambiguous_id'],
    handle: (request) => change(deps, request),
  };
}

async function change(deps: RouteDeps, request: RouteRequest): Promise<RouteResponse> {
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

const MAX_BODY_BYTES = 64 * 1024 * 1024;

const EDIT: Schema = {
  type: 'object',
  properties: {
    item_hash: { ...STATED_HASH, description: 'hash of the item to edit; or use `item_id`' },
    item_id: { description: '`id` of the item to edit, as JSON: `1` and `"1"` differ' },
    section: { type: 'string', description: 'the section of the item, if several sections contain it' },
    item: { type: 'object', description: 'the new item; or use `remove`' },
    remove: { type: 'boolean', const: true },
  },
  additionalProperties: false,
};

export function editItemsRoute(deps: RouteDeps): Route {
  const { config, store, reader } = deps;
  return {
    ...DATASET_CHANGE,
    method: 'patch',
    path: '/datasets/{id}/items',
    operationId: 'editItems',
    summary: 'Replace and remove items, all or none: the next version of a dataset',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY, ...CHANGE_HEADERS },
    query: { message: MESSAGE, dry_run: DRY_RUN_QUERY },
    body: {
      ...jsonBody(
        {
          edits: { type: 'array', items: EDIT, minItems: 1, maxItems: 1000 },
          message: MESSAGE_OR_NULL,
        },
        ['edits'],
      ),
      maxBytes: MAX_BODY_BYTES,
      maxValues: Number.POSITIVE_INFINITY,
      parse: (bytes, maxDepth, signal) => reader.readEdits({ bytes, maxDepth }, signal),
    },
    responses: CHANGE_RESPONSES,
    errors: ['section_not_found', 'item_not_found', 'ambiguous_id', 'invalid_row', 'package_limit'],
    handle: async (request) => {
      const { body, params, query, origins, signal } = request;
      const datasetId = params['id'] ?? '';
      const { edits, edited } = readEdits(body['edits'] as readonly JsonObject[]);
      const { maxLineBytes, maxJsonDepth: maxDepth } = config;
      const source = editsSource(edited, { maxLineBytes, maxDepth, origins });
      const facts = changeFacts(request, body['message'] as string | null | undefined);
      const target = { kind: 'version', change: { datasetId, mode: 'edit', ...facts }, edits } as const;
      if (query['dry_run'] === true) return await dryRunNow(deps, { source, target }, signal);
      const { ifMatch = null, message } = facts;
      const digest = (): Uint8Array =>
        requestDigest(`PATCH /datasets/${datasetId}/items`, describe(edits, edited), ifMatch, message);
      return await withIdempotency(request, store.idempotency, digest, (claim) =>
        importNow(deps, { source, target }, signal, claim),
      );
    },
  };
}

/** A text that equal edits share, and others do not. */
const describe = (edits: readonly Edit[], edited: readonly EditedItem[]): string =>
  JSON.stringify([edits, edited.map(({ item, path }) => [path, item.sha256])]);

/** @throws RequestError `invalid_request` for an edit that does not name one item, or does not say what to do with it */
function readEdits(list: readonly JsonObject[]) {
  const edited: EditedItem[] = [];
  const edits = list.map((edit, index): Edit => {
    const path = `/edits/${index}`;
    const hash = getMember(edit, 'item_hash') as string | undefined;
    const id = getMember(edit, 'item_id') as string | undefined;
    const item = getMember(edit, 'item') as ItemText | undefined;
    const isRemoval = getMember(edit, 'remove') !== undefined;
    if ((hash === undefined) === (id === undefined))
      throw invalidRequest(path, `${path} must have either item_hash or item_id.`);
    if ((item === undefined) !== isRemoval)
      throw invalidRequest(path, `${path} must have either item or remove.`);
    if (item !== undefined) edited.push({ item, path: `${path}/item` });
    return {
      section: getMember(edit, 'section') as string | undefined,
      item: hash === undefined ? { id: id as string } : { hash },
      isRemoval,
    };
  });
  return { edits, edited };
}
