import { randomUUID } from 'node:crypto';
import {
  type DatasetWriter,
  type DryRun,
  dryRunHub,
  type Hub,
  type ImportHubOptions,
  importHub,
  type Preview,
  previewHub,
  type RowEncoder,
} from '@svc/flows';
import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Mapping,
} from '@svc/jsonl-v23';
import { type Logger, type Metrics, runWithContext } from '@svc/observability';
import type { Config } from '@svc/process';
import { json } from '../http/answer.ts';
import type { Gate } from '../http/gate.ts';
import { type JsonBody, JsonText } from '../http/json-text.ts';
import { RequestError } from '../http/request-error.ts';
import type { Route, Schema } from '../http/route.ts';
import { summaryBody } from './dataset-body.ts';
import { NAME, OPTIONAL_TEXT } from './dataset-fields.ts';
import { observeImport } from './observe-import.ts';
import { DATASET_SUMMARY, shape } from './schemas.ts';

export interface HubDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly hub: Hub;
  readonly store: { readonly datasets: DatasetWriter };
  readonly encoder: RowEncoder;
  readonly gate: Gate;
}

const OPTIONAL_STRING: Schema = { type: ['string', 'null'], minLength: 1, maxLength: 1024 };
const OPTIONAL_COLUMNS: Schema = {
  type: ['array', 'null'],
  items: { type: 'string', minLength: 1 },
  maxItems: 1000,
  uniqueItems: true,
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
  token: { ...OPTIONAL_STRING, description: 'hub token; used for this request and never stored' },
};

const MAPPING: Schema = {
  type: 'object',
  properties: {
    prompt_column: { type: 'string', minLength: 1 },
    answer_column: OPTIONAL_STRING,
    default_type: OPTIONAL_STRING,
    meta_columns: OPTIONAL_COLUMNS,
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
  const { config, hub, store, encoder, gate } = deps;
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
        const request = sourceOf(body ?? {});
        return await withToken(request.token, async () => {
          const limit = numberOf(body, 'limit') ?? 10;
          const preview = await previewHub(
            { ...request, limit, maxBytes: config.maxPreviewBytes, signal },
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
      },
      errors: [...HUB_ERRORS, 'column_not_found', 'assets_not_object', 'invalid_row', 'unavailable'],
      handle: async ({ body, query, signal }) => {
        const options = importOptions(body ?? {}, signal);
        return await withToken(options.token, async () => {
          using _place = await gate.enter(signal);
          const ports = { hub, store: store.datasets, encoder, newId: randomUUID };
          if (query['dry_run'] === true) return json(dryRunBody(await dryRunHub(options, ports)));
          const { path, split, subset, revision } = options.config;
          const start = { source: 'hub', path, split, subset, revision } as const;
          const dataset = await observeImport(deps, start, signal, (onProgress) =>
            importHub({ ...options, onProgress }, ports),
          );
          return json(summaryBody(dataset), 201, { Location: `/datasets/${dataset.id}` });
        });
      },
    },
  ];
}

/** Runs with the request's token blotted out of every log line. */
function withToken<T>(token: string | undefined, run: () => Promise<T>): Promise<T> {
  return token === undefined ? run() : runWithContext({ secrets: [token] }, run);
}

/** The options of an import from a body that has passed the schema; null stands for absent. */
export function importOptions(body: JsonObject, signal: AbortSignal): ImportHubOptions {
  const config = objectOf(body, 'config');
  const mapping = objectOf(body, 'mapping');
  const { path, split, subset, revision, token } = sourceOf(config);
  return {
    id: randomUUID(),
    name: String(getMember(body, 'name')),
    description: stringOf(body, 'description') ?? null,
    config: { path, split, subset, revision },
    token,
    mapping: mappingOf(mapping),
    mappingAsSent: mapping,
    signal,
  };
}

function mappingOf(mapping: JsonObject): Mapping {
  const columns = {
    answerColumn: stringOf(mapping, 'answer_column'),
    defaultType: stringOf(mapping, 'default_type'),
    metaColumns: stringsOf(mapping, 'meta_columns'),
    criteriaColumns: stringsOf(mapping, 'criteria_columns'),
    choicesColumn: stringOf(mapping, 'choices_column'),
    assetsColumn: stringOf(mapping, 'assets_column'),
    systemPromptColumn: stringOf(mapping, 'system_prompt_column'),
    idColumn: stringOf(mapping, 'id_column'),
  };
  const defined = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
  return { promptColumn: String(getMember(mapping, 'prompt_column')), ...defined };
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
    samples: preview.samples.map((sample) => new JsonText(canonicalJson(sample))),
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
    errors: found.errors.map(({ message, code, place }) => ({
      message,
      code,
      row: place.row,
      path: place.path,
    })),
    errors_total: found.errorsTotal,
  };
}

type Source = ImportHubOptions['config'] & { readonly token: string | undefined };

function sourceOf(object: JsonObject): Source {
  return {
    path: String(getMember(object, 'path')),
    split: stringOf(object, 'split'),
    subset: stringOf(object, 'subset'),
    revision: stringOf(object, 'revision'),
    token: stringOf(object, 'token'),
  };
}

const stringOf = (object: JsonObject, key: string): string | undefined => {
  const value = getMember(object, key);
  return typeof value === 'string' ? value : undefined;
};

const stringsOf = (object: JsonObject, key: string): string[] | undefined => {
  const value = getMember(object, key);
  return Array.isArray(value) ? value.map(String) : undefined;
};

const numberOf = (object: JsonObject | null, key: string): number | undefined => {
  const value: JsonValue | undefined = object === null ? undefined : getMember(object, key);
  return typeof value === 'number' ? value : undefined;
};

function objectOf(object: JsonObject, key: string): JsonObject {
  const value = getMember(object, key);
  if (isJsonObject(value)) return value;
  throw new RequestError('invalid_request', `${key} must be an object`);
}
