import { randomUUID } from 'node:crypto';
import {
  type DryRun,
  dryRunHub,
  encodeImportRequest,
  type ImportFailure,
  type ImportRequest,
  importHub,
  observeImport,
  type Preview,
  previewHub,
  requestFailure,
  toHubSource,
  toImportRequest,
} from '@svc/flows';
import type { HubClient } from '@svc/hub-client';
import type { Mapping } from '@svc/jsonl-v23';
import { canonicalJson, getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import {
  createRedactor,
  currentContext,
  type Logger,
  type Metrics,
  runWithContext,
} from '@svc/observability';
import {
  type Config,
  type JsonBody,
  JsonText,
  json,
  RequestError,
  type Route,
  type Schema,
  shape,
  type TokenCipher,
  toJsonText,
} from '@svc/runtime';
import type { IdempotencyClaim, Job, Store, StoredResponse } from '@svc/store';
import { IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/idempotency.ts';
import { PREFER, prefersAsync } from '../../http/prefer.ts';
import { classify } from '../../http/problem.ts';
import { NAME, OPTIONAL_TEXT } from '../datasets/fields.ts';
import { datasetCreated } from '../datasets/serialize.ts';
import { DATASET_SUMMARY } from '../docs/schemas.ts';
import { JOB, jobAccepted } from '../jobs/serialize.ts';

export interface HubDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly hub: Pick<HubClient, 'openDataset'>;
  readonly store: Pick<Store, 'datasets' | 'jobs' | 'idempotency'>;
  /** keeps the token of an asynchronous import; null where there is no key to seal it with */
  readonly vault: TokenCipher | null;
}

const OPTIONAL_STRING: Schema = { type: ['string', 'null'], minLength: 1, maxLength: 1024 };
const OPTIONAL_COLUMNS: Schema = {
  type: ['array', 'null'],
  items: { type: 'string', minLength: 1 },
  maxItems: 1000,
  uniqueItems: true,
};
const META_COLUMNS: Schema = {
  description: 'key in `meta` → column; an array of columns stands for keys of the same names',
  anyOf: [
    { type: 'object', additionalProperties: { type: 'string', minLength: 1 }, maxProperties: 1000 },
    OPTIONAL_COLUMNS,
  ],
};
const PATH: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 200,
  description: '`owner/name`, or a legacy name',
};

const SOURCE: Readonly<Record<string, Schema>> = {
  path: PATH,
  split: { ...OPTIONAL_STRING, description: 'a split or slices of splits, such as `train[:100]`' },
  revision: { ...OPTIONAL_STRING, description: 'branch, tag or commit' },
  subset: OPTIONAL_STRING,
  token: {
    ...OPTIONAL_STRING,
    maxLength: 512,
    pattern: '^[\\x21-\\x7e]*$',
    description:
      'hub token; used for this request alone, and kept no longer, sealed, than an asynchronous import takes',
  },
};

const MAPPING: Schema = {
  type: 'object',
  properties: {
    prompt_column: { type: 'string', minLength: 1 },
    answer_column: OPTIONAL_STRING,
    default_type: OPTIONAL_STRING,
    meta_columns: META_COLUMNS,
    criteria_columns: OPTIONAL_COLUMNS,
    choices_column: OPTIONAL_STRING,
    assets_column: OPTIONAL_STRING,
    system_prompt_column: OPTIONAL_STRING,
    id_column: OPTIONAL_STRING,
  },
  required: ['prompt_column'],
  additionalProperties: false,
};

const COUNT_OR_NULL: Schema = { type: ['integer', 'null'], minimum: 0 };

const PREVIEW: Schema = shape({
  features: { type: 'array', items: shape({ name: { type: 'string' }, dtype: { type: 'string' } }) },
  samples: { type: 'array', items: { type: 'object' } },
  num_rows: COUNT_OR_NULL,
  info: { type: 'object' },
  subset: { type: 'string' },
  split: { type: 'string' },
  resolved_revision: { type: 'string' },
  splits: {
    type: 'array',
    items: shape({ subset: { type: 'string' }, split: { type: 'string' }, num_rows: COUNT_OR_NULL }),
  },
  suggested_mapping: { type: ['object', 'null'] },
  truncated_cells: {
    type: 'array',
    items: shape({ row: { type: 'integer' }, column: { type: 'string' }, bytes: { type: 'integer' } }),
  },
});

const HUB_ERRORS = [
  'invalid_json',
  'invalid_split',
  'hub_unsupported_dataset',
  'hub_gated',
  'hub_dataset_not_found',
  'hub_revision_not_found',
  'hub_split_not_found',
  'hub_subset_not_found',
  'hub_unavailable',
  'hub_bad_response',
  'hub_rate_limited',
  'hub_timeout',
  'body_too_large',
  'unsupported_media_type',
];

/** `POST /datasets/hub/preview` and `POST /datasets/hub/import`. */
export function hubRoutes(deps: HubDeps): readonly Route[] {
  const { config, hub, store } = deps;
  return [
    {
      method: 'post',
      path: '/datasets/hub/preview',
      operationId: 'previewHubDataset',
      summary: 'Look into a hub dataset; nothing is stored',
      tag: 'hub',
      access: 'editor',
      body: {
        contentType: 'application/json',
        schema: {
          type: 'object',
          properties: {
            ...SOURCE,
            limit: { type: ['integer', 'null'], minimum: 1, maximum: 100, default: 10 },
          },
          required: ['path'],
          additionalProperties: false,
        },
      },
      produces: 'application/json',
      responses: { 200: { description: 'what is there', schema: PREVIEW } },
      errors: HUB_ERRORS,
      handle: async ({ body, signal }) => {
        const request = toHubSource(body ?? {});
        return await withToken(request.token, async () => {
          const limit = numberOf(body, 'limit') ?? 10;
          const preview = await previewHub(
            {
              ...request,
              limit,
              remainingBytes: (head) => {
                const rest = toJsonText(previewBody({ ...head, samples: [], truncatedCells: [] }));
                return config.maxPreviewBytes - Buffer.byteLength(rest);
              },
              signal,
            },
            hub,
          );
          return json(previewBody(preview));
        });
      },
    },
    {
      method: 'post',
      path: '/datasets/hub/import',
      operationId: 'importHubDataset',
      summary: 'Import a slice of a hub dataset under a column mapping',
      tag: 'hub',
      access: 'editor',
      headers: { 'Idempotency-Key': IDEMPOTENCY_KEY, Prefer: PREFER },
      query: {
        dry_run: { type: 'boolean', default: false, description: 'convert every row and store nothing' },
      },
      body: {
        contentType: 'application/json',
        schema: {
          type: 'object',
          properties: {
            name: NAME,
            description: OPTIONAL_TEXT,
            config: { type: 'object', properties: SOURCE, required: ['path'], additionalProperties: false },
            mapping: MAPPING,
          },
          required: ['name', 'config', 'mapping'],
          additionalProperties: false,
        },
      },
      produces: 'application/json',
      responses: {
        200: { description: 'what a dry run found', schema: { type: 'object' } },
        201: { description: 'the stored dataset', schema: DATASET_SUMMARY },
        202: { description: 'with `respond-async`: the job that imports it', schema: JOB },
      },
      errors: [
        ...HUB_ERRORS,
        'column_not_found',
        'assets_not_object',
        'invalid_row',
        'idempotency_key_reused',
        'unavailable',
      ],
      handle: async (request) => {
        const { body, query, signal } = request;
        const wanted = toImportRequest(body ?? {});
        return await withToken(wanted.token, async () => {
          if (query['dry_run'] === true) {
            await using draft = await store.datasets.begin({ signal, dryRun: true });
            const options = { maxItemBytes: config.maxLineBytes, signal };
            return json(dryRunBody(await dryRunHub(hub, draft, wanted, options)));
          }
          const isAsync = prefersAsync(request.header('prefer'));
          const digest = (): Uint8Array =>
            requestDigest('POST /datasets/hub/import', isAsync, canonicalJson(body ?? {}));
          return await withIdempotency(request, store.idempotency, digest, (claim) =>
            isAsync ? enqueueImport(deps, wanted, claim) : importNow(deps, wanted, signal, claim),
          );
        });
      },
    },
  ];
}

/** Imports within the request: rows → items → stored dataset. */
async function importNow(
  deps: HubDeps,
  wanted: ImportRequest,
  signal: AbortSignal,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const { config, hub, store } = deps;
  const { path, split, subset, revision } = wanted.config;
  await using draft = await store.datasets.begin({ signal });
  const start = { source: 'hub', path, split, subset, revision } as const;
  const failureOf = (error: unknown): ImportFailure => requestFailure(error, signal);
  const dataset = await observeImport(deps, { start, draft, failureOf }, async () => {
    const inserted = await importHub(hub, draft, wanted, { maxItemBytes: config.maxLineBytes, signal });
    if (claim !== undefined) await draft.saveResponse(claim, datasetCreated(inserted));
    await draft.commit();
    return inserted;
  });
  return datasetCreated(dataset);
}

/**
 * The import as a job that any worker takes.
 *
 * @throws RequestError `invalid_request` for a token that cannot be kept
 */
async function enqueueImport(
  { store, vault, logger }: HubDeps,
  wanted: ImportRequest,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const id = randomUUID();
  const { token } = wanted;
  if (token !== undefined && vault === null) {
    const message =
      'an asynchronous import cannot keep a token here: set SVC_JOB_KEY, import without respond-async, or let the workers have HUB_TOKEN';
    throw new RequestError('invalid_request', message, { errors: [{ message, path: '/config/token' }] });
  }
  const sealed = token === undefined ? undefined : vault?.seal(id, token);
  let job: Job;
  try {
    job = await store.jobs.create(
      {
        id,
        kind: 'import',
        request: encodeImportRequest(wanted),
        sealedToken: sealed === undefined ? undefined : Buffer.from(sealed),
        requestId: currentContext().request_id ?? null,
      },
      claim === undefined ? {} : { idempotency: { claim, answer: jobAccepted } },
    );
  } catch (error) {
    vault?.forget(id);
    throw error;
  }
  runWithContext({ job_id: id }, () => logger.log('job.enqueue', { kind: 'import' }));
  return jobAccepted(job);
}

/**
 * Runs with the request's token blotted out of every log line, and out of what a fault of ours says of itself, which
 * is logged when the request is answered.
 */
async function withToken<T>(token: string | undefined, run: () => Promise<T>): Promise<T> {
  if (token === undefined) return await run();
  try {
    return await runWithContext({ secrets: [token] }, run);
  } catch (error) {
    throw classify(error).code === 'internal' ? withoutToken(error, token) : error;
  }
}

function withoutToken(error: unknown, token: string): Error {
  const redact = createRedactor([token]);
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const fault = new Error(redact(message));
  fault.name = name;
  fault.stack = redact(stack ?? '');
  return fault;
}

/** A mapping as the wire has it. */
function mappingBody(mapping: Mapping): JsonBody {
  return {
    prompt_column: mapping.promptColumn,
    answer_column: mapping.answerColumn,
    default_type: mapping.defaultType,
    meta_columns: mapping.metaColumns,
    criteria_columns: mapping.criteriaColumns,
    choices_column: mapping.choicesColumn,
    assets_column: mapping.assetsColumn,
    system_prompt_column: mapping.systemPromptColumn,
    id_column: mapping.idColumn,
  };
}

function previewBody(preview: Preview): JsonBody {
  return {
    features: preview.features.map(({ name, dtype }) => ({ name, dtype })),
    // Not canonical: the columns stay in the dataset's order.
    samples: preview.samples.map((sample) => new JsonText(JSON.stringify(sample))),
    num_rows: preview.numRows,
    info: new JsonText(canonicalJson(preview.info)),
    subset: preview.subset,
    split: preview.split,
    resolved_revision: preview.resolvedRevision,
    splits: preview.splits.map(({ subset, split, numRows }) => ({ subset, split, num_rows: numRows })),
    suggested_mapping: preview.suggestedMapping === null ? null : mappingBody(preview.suggestedMapping),
    truncated_cells: preview.truncatedCells.map(({ row, column, bytes }) => ({ row, column, bytes })),
  };
}

function dryRunBody(found: DryRun): JsonBody {
  return {
    item_count: found.itemCount,
    version_hash: found.versionHash,
    errors: found.errors.map(({ message, code, location }) => ({
      message,
      code,
      row: location.row,
      path: location.path,
    })),
    errors_total: found.errorsTotal,
  };
}

const numberOf = (object: JsonObject | null, key: string): number | undefined => {
  const value: JsonValue | undefined = object === null ? undefined : getMember(object, key);
  return typeof value === 'number' ? value : undefined;
};
