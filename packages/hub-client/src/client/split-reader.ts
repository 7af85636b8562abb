import { NO_REASON, type UnreadRow } from '@svc/jsonl-v23/imports';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { MappableFeature, Mapping } from '@svc/jsonl-v23/mapping';
import { checkNumber } from '@svc/jsonl-v23/options';
import { type Feature, type Features, mergeFeatures, type RowBatch, toMappable } from '@svc/tabular';
import { type RowFacts, rowsSchema } from '@svc/tabular/datasets';
import { HubError, listNames } from '../errors.ts';
import type { YamlValue } from '../repository/metadata.ts';
import { withoutCredentials } from '../repository/validate-path.ts';
import type { SplitTable } from '../splits/open-tables.ts';
import {
  emptySelection,
  resolveSplit,
  type SplitExpression,
  type SplitRange,
} from '../splits/split-slice.ts';
import type { Subset } from '../splits/subset.ts';
import { specifiedMapping, suggestDatasetMapping } from '../splits/suggest-dataset-mapping.ts';

/** A split, and the number of its rows if that is known. */
export interface HubSplit {
  readonly subset: string;
  readonly split: string;
  readonly numRows: number | null;
}

/** A row with its location, in JSON form. */
export interface HubRow {
  readonly row: JsonObject;
  /** 0-based, in its split. */
  readonly rowIndex: number;
  readonly split: string;
  /**
   * Why it cannot be read, in a slice with `skipsInvalid`; its values are null. Only the first 100 such rows of a batch have
   * a location.
   */
  readonly unread?: UnreadRow;
}

export interface ReadRowsOptions {
  /** Names of `features` to read; default all. */
  readonly columns?: readonly string[] | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A slice of one subset, with what is known before a row is read. */
export interface SplitReader {
  readonly subset: string;
  /** The split expression. */
  readonly split: string;
  readonly features: readonly MappableFeature[];
  /** Rows of the slice; null if only reading the data tells. */
  readonly numRows: number | null;
  /** All splits of all subsets. */
  readonly splits: readonly HubSplit[];
  /**
   * `description`, `citation`, `homepage`, `license` (null if unknown); if known `pretty_name`, `language`, `tags`,
   * `ignored_files` (in no split), `class_labels` (column to names), `converted_parquet`, `converted_revision`, `partial`,
   * `warnings` (what reading changes in the values, as far as they have been read).
   */
  readonly info: JsonObject;
  readonly suggestedMapping: Mapping | null;
  /** The columns that the dataset names itself, in its `eval.yaml`; null if it does not. */
  readonly specifiedMapping?: Mapping | null;
  /** The row at which looking for columns ended early, because it is invalid; absent if there is none. */
  readonly unreadRow?: HubError | undefined;
  /**
   * The rows in order, in batches; the next ones are downloaded while you use these.
   * @throws HubError `column_not_found` with `details.available` before anything is read, `invalid_row` with file and
   *   line, `invalid_split` if the slice turns out to be empty, and those of reading; TypeError, RangeError for an invalid
   *   `limit`, TypeError for `columns` that are not an array of strings; the signal's reason
   */
  rowBatches(options?: ReadRowsOptions): AsyncGenerator<HubRow[], void, undefined>;
  /** The rows in order. An abort takes effect before the next row. @throws as `rowBatches` */
  rows(options?: ReadRowsOptions): AsyncGenerator<HubRow, void, undefined>;
}

interface TableRange extends SplitRange {
  readonly table: SplitTable;
}

/** @throws HubError `invalid_split`, `hub_split_not_found` */
export function createSplitReader(
  subset: Subset,
  expression: SplitExpression,
  tables: ReadonlyMap<string, SplitTable>,
  known: {
    readonly splits: readonly HubSplit[];
    readonly info: JsonObject;
    readonly evalYaml: YamlValue;
    /** Ends every reading of the slice. */
    readonly signal: AbortSignal | undefined;
  },
): SplitReader {
  const counts = new Map([...tables].map(([name, { rowCount }]) => [name, rowCount]));
  const ranges = resolveSplit(
    expression,
    subset.splits.map(({ name }) => ({ name, numRows: counts.get(name) })),
  ).flatMap((range): TableRange[] => {
    const table = tables.get(range.split);
    return table === undefined ? [] : [{ ...range, table }];
  });
  const features = mergeFeatures([...tables.values()].map((table) => table.features));
  const mappable = features.map(toMappable);
  const first = expression.parts[0]?.split;
  const names = features.map(({ name }) => name);
  const task = { subset: subset.name, ...(first === undefined ? {} : { split: first }) };

  async function* rowBatches(options: ReadRowsOptions = {}): AsyncGenerator<HubRow[], void, undefined> {
    const columns = checkColumns(options.columns, names);
    const batches = readRanges(expression, ranges, options, columns);
    for await (const { batch, split } of batches) {
      const { firstRow, rows, invalid } = batch;
      yield rows.map((row, index) => {
        const unread = invalid?.get(index);
        const rowIndex = firstRow + index;
        return unread === undefined
          ? { row, rowIndex, split }
          : { row, rowIndex, split, unread: unread ?? NO_REASON };
      });
    }
  }
  return {
    subset: subset.name,
    split: expression.text,
    features: mappable,
    numRows: countSelected(subset, ranges),
    splits: known.splits.map((split) => {
      const numRows = split.subset === subset.name ? counts.get(split.split) : undefined;
      return { ...split, numRows: numRows ?? split.numRows };
    }),
    get info() {
      return { ...known.info, ...classLabels(features), ...warningsOf(tables) };
    },
    suggestedMapping: suggestDatasetMapping(mappable, known.evalYaml, task),
    specifiedMapping: specifiedMapping(mappable, known.evalYaml, task),
    unreadRow: [...tables.values()].find((table) => table.unreadRow !== undefined)?.unreadRow,
    rowBatches,
    async *rows(options) {
      for await (const batch of rowBatches(options)) {
        for (const row of batch) {
          known.signal?.throwIfAborted();
          options?.signal?.throwIfAborted();
          yield row;
        }
      }
    },
  };
}

const MAX_NAMED_COLUMNS = 50;
const MAX_NAME_LENGTH = 100;

/** The requested columns, else all. @throws HubError `column_not_found`; TypeError for another type */
function checkColumns(columns: readonly string[] | undefined, names: readonly string[]): readonly string[] {
  if (columns === undefined) return names;
  if (!Array.isArray(columns)) {
    const type = columns === null ? 'null' : `a value of the type ${typeof columns}`;
    throw new TypeError(`columns must be an array of strings, got ${type}.`);
  }
  const other = columns.findIndex((name) => typeof name !== 'string');
  if (other !== -1) {
    throw new TypeError(
      `columns[${other}] must be a string, got a value of the type ${typeof columns[other]}.`,
    );
  }
  const known = new Set(names);
  const missing = columns.find((name) => !known.has(name));
  if (missing === undefined) return columns;
  const quote = (name: string): string =>
    JSON.stringify(name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1)}…` : name);
  const list = names.length === 0 ? 'no columns' : listNames(names.map(quote), MAX_NAMED_COLUMNS);
  const message = `Column ${quote(String(missing))} not found: the dataset has ${list}`;
  throw new HubError('column_not_found', message, { details: { available: names } });
}

function classLabels(features: Features): JsonObject {
  const labels = features.flatMap(({ name, feature }) => labelsOf(name, feature));
  return labels.length === 0 ? {} : { class_labels: Object.fromEntries(labels) };
}

/** The names of class labels at or within a feature; members are `column.member`, items of lists `column[]`. */
function labelsOf(path: string, feature: Feature): Array<[path: string, names: string[]]> {
  switch (feature.kind) {
    case 'class_label':
      return [[path, [...feature.names]]];
    case 'list':
      return labelsOf(`${path}[]`, feature.item);
    case 'struct':
      return feature.fields.flatMap(({ name, feature: inner }) => labelsOf(`${path}.${name}`, inner));
    default:
      return [];
  }
}

function warningsOf(tables: ReadonlyMap<string, SplitTable>): JsonObject {
  const warnings = new Set([...tables.values()].flatMap((table) => table.warnings ?? []));
  return warnings.size === 0 ? {} : { warnings: [...warnings] };
}

/** Rows of the slice, as counted, else as the dataset card declares; null if neither tells. */
function countSelected(subset: Subset, ranges: readonly TableRange[]): number | null {
  let sum = 0;
  for (const { split, from, to, table } of ranges) {
    const { rowCount, atLeastRows } = table;
    const declared = subset.splits.find(({ name }) => name === split)?.declaredRows ?? null;
    const count = rowCount ?? (declared === null ? null : Math.max(declared, atLeastRows));
    if (count === null && (to === null || to > atLeastRows)) return null;
    const end = Math.min(to ?? Number.POSITIVE_INFINITY, count ?? Number.POSITIVE_INFINITY);
    sum += Math.max(0, end - from);
  }
  return sum;
}

async function* readRanges(
  expression: SplitExpression,
  ranges: readonly TableRange[],
  { limit = Number.POSITIVE_INFINITY, signal }: ReadRowsOptions,
  columns: readonly string[],
): AsyncGenerator<{ batch: RowBatch; split: string }, void, undefined> {
  if (limit !== Number.POSITIVE_INFINITY) checkNumber('limit', limit, { min: 0 });
  let count = 0;
  for (const source of ranges) {
    if (count >= limit) return;
    const { from, to, split } = source;
    const end = Math.min(to ?? Number.POSITIVE_INFINITY, from + limit - count);
    for await (const batch of source.table.read({ from, to: end, columns, signal })) {
      signal?.throwIfAborted();
      count += batch.rows.length;
      yield { batch, split };
    }
  }
  signal?.throwIfAborted();
  if (count > 0 || limit <= 0) return;
  // Without a count of the rows, only now it is known that the slice is after the last row.
  for (const { table, from } of ranges) {
    if (from === 0) continue;
    for await (const batch of table.read({ to: 1, columns: [], signal })) {
      if (batch.rows.length > 0) throw emptySelection(expression);
    }
  }
}

/** What a person asked for. */
export interface DatasetRef {
  readonly path: string;
  readonly split?: string | undefined;
  /** What all subsets became; without it, there is one. */
  readonly subsets?: 'sections' | 'tags' | undefined;
  readonly revision?: string | undefined;
}

/**
 * The `schema` of a dataset that was made of a hub dataset: `path`, `split` and `revision` as sent, without possible
 * tokens, and as resolved.
 */
export function hubSchema(
  { path, split, subsets, revision }: DatasetRef,
  { reader, resolvedRevision }: { readonly reader: SplitReader; readonly resolvedRevision: string },
  rows: Omit<RowFacts, 'features'>,
): JsonObject {
  return {
    source: 'hub',
    config: {
      path: withoutCredentials(path),
      split: split ?? null,
      ...(subsets === undefined ? { subset: reader.subset } : { subset: null, subsets }),
      revision: revision ?? null,
      resolved_revision: resolvedRevision,
      resolved_split: reader.split,
    },
    info: reader.info,
    ...rowsSchema({ ...rows, features: reader.features }),
  };
}
