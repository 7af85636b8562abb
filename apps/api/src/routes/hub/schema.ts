import type { JsonlError } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { MAPPING_SCHEMA, writeMapping } from '@svc/jsonl-v23/mapping';
import { type JsonBody, JsonText, type Schema, shape } from '@svc/service';
import {
  type DryRun,
  type ImportError,
  importNotesJson,
  type Preview,
  type PreviewItem,
  type PreviewRows,
  type SkippedFiles,
  skippedFilesJson,
} from '@svc/service/flows';
import { codesOf, sentence } from '../../http/problem.ts';
import { CHANGE, COUNT, COUNT_OR_NULL, IMPORT_NOTES, NOTE_NAMES, TEXT } from '../docs/schemas.ts';

const OPTIONAL_STRING: Schema = { type: ['string', 'null'], minLength: 1, maxLength: 1024 };
const PATH: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 1024,
  description: '`owner/name`, a legacy name, or the address of a dataset’s page',
};

export const PREVIEW_ROWS: Readonly<Record<string, Schema>> = {
  samples: { type: 'array', items: { type: 'object' } },
  truncated_cells: {
    type: 'array',
    items: shape({ row: { type: 'integer' }, column: TEXT, bytes: { type: 'integer' } }),
  },
  suggested_mapping: { type: ['object', 'null'] },
  suggested_mapping_reasons: {
    type: ['object', 'null'],
    additionalProperties: TEXT,
    description: 'key of the suggested mapping → why it was chosen',
  },
  items: {
    type: 'array',
    items: { type: 'object' },
    description: 'with a mapping: `{row, item}`, or `{row, error}` for an invalid row',
  },
};

export const SOURCE: Readonly<Record<string, Schema>> = {
  path: PATH,
  split: { ...OPTIONAL_STRING, description: 'a split or slices of splits, such as `train[:100]`' },
  revision: { ...OPTIONAL_STRING, description: 'branch, tag or commit' },
  subset: OPTIONAL_STRING,
  token: {
    ...OPTIONAL_STRING,
    maxLength: 512,
    pattern: '^[\\x21-\\x7e]*$',
    'x-rule': 'must be visible ASCII characters',
    description:
      'hub token for this request only; an asynchronous import stores it, encrypted, until it finishes',
  },
};

export const IMPORTED: Readonly<Record<string, Schema>> = {
  ...SOURCE,
  subsets: {
    type: ['string', 'null'],
    enum: ['sections', 'tags', null],
    description:
      'imports all subsets, each as a section, or in one section with its name as a tag; not with `subset`',
  },
};

export const MAPPING: Schema = MAPPING_SCHEMA;

export const PREVIEW: Schema = shape(
  {
    features: { type: 'array', items: shape({ name: TEXT, dtype: TEXT }) },
    num_rows: COUNT_OR_NULL,
    info: { type: 'object' },
    subset: TEXT,
    split: TEXT,
    resolved_revision: TEXT,
    splits: {
      type: 'array',
      items: shape({ subset: TEXT, split: TEXT, num_rows: COUNT_OR_NULL }),
    },
    ...PREVIEW_ROWS,
  },
  ['items'],
);

export const DRY_RUN: Schema = shape(
  {
    item_count: COUNT,
    version_hash: { type: ['string', 'null'], description: 'null if a row is invalid' },
    change: CHANGE,
    errors: {
      type: 'array',
      items: shape(
        {
          message: TEXT,
          code: TEXT,
          file: TEXT,
          line: { type: 'integer' },
          column: { type: 'integer' },
          row: { type: 'integer' },
          path: TEXT,
        },
        ['file', 'line', 'column', 'row', 'path'],
      ),
      description: 'the first 100',
    },
    errors_total: COUNT,
    skipped: {
      ...shape({
        count: { type: 'integer' },
        rows: {
          type: 'array',
          items: shape(
            {
              row: { type: 'integer' },
              message: TEXT,
              file: TEXT,
              line: { type: 'integer' },
            },
            ['row', 'file', 'line'],
          ),
        },
      }),
      description: 'set if the mapping skips invalid rows',
    },
    ...IMPORT_NOTES,
  },
  ['change', 'skipped', ...NOTE_NAMES],
);

export const HUB_ERRORS = ['invalid_split', ...codesOf('hub_')];

export function serializePreview(preview: Preview): JsonBody {
  return {
    features: preview.features.map(({ name, dtype }) => ({ name, dtype })),
    num_rows: preview.numRows,
    info: new JsonText(canonicalJson(preview.info)),
    subset: preview.subset,
    split: preview.split,
    resolved_revision: preview.resolvedRevision,
    splits: preview.splits.map(({ subset, split, numRows }) => ({ subset, split, num_rows: numRows })),
    ...serializeRows(preview),
  };
}

export function serializeRows({ samples, truncatedCells, suggestion, items }: PreviewRows): {
  readonly [key: string]: JsonBody;
} {
  return {
    // Not canonical: this keeps the order of the columns.
    samples: samples.map((sample) => new JsonText(JSON.stringify(sample))),
    truncated_cells: truncatedCells.map(({ row, column, bytes }) => ({ row, column, bytes })),
    suggested_mapping:
      suggestion === null ? null : new JsonText(JSON.stringify(writeMapping(suggestion.mapping))),
    suggested_mapping_reasons: suggestion === null ? null : { ...suggestion.reasons },
    ...(items === null ? {} : { items: items.map(serializeItem) }),
  };
}

function serializeItem(shown: PreviewItem): JsonBody {
  return 'item' in shown
    ? { row: shown.row, item: new JsonText(canonicalJson(shown.item)) }
    : { row: shown.row, error: serializeRowError(shown.error) };
}

const serializeRowError = ({ message, code, location }: ImportError): JsonBody => ({
  ...{ message: sentence(message), code, ...location },
});

export function serializeDryRun({
  itemCount,
  versionHash,
  change,
  errors,
  errorsTotal,
  skipped,
  ...notes
}: DryRun): JsonBody {
  return {
    item_count: itemCount,
    version_hash: versionHash,
    ...(change === null ? {} : { change: { ...change } }),
    errors: errors.map(serializeRowError),
    errors_total: errorsTotal,
    ...(skipped === null
      ? {}
      : { skipped: { count: skipped.total, rows: skipped.first.map(serializeSkippedRow) } }),
    ...importNotesJson(notes),
  };
}

export function serializeSkippedFiles(skipped: SkippedFiles | undefined): Record<string, JsonBody> {
  return skipped === undefined ? {} : (skippedFilesJson(skipped) as Record<string, JsonBody>);
}

function serializeSkippedRow({ message, location: { file, line, row } }: JsonlError): JsonBody {
  return { row, message, file, line };
}
