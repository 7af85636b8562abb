import { shorten } from '../errors.ts';
import { type FetchedRanges, fetchRanges } from '../source/byte-ranges.ts';
import type { ByteInterval } from '../source/byte-source.ts';
import { joinSignals } from '../source/turns.ts';
import { assembleNested } from './assemble.ts';
import type { CellValues } from './cells/convert.ts';
import { ChunkDecoder, MemoryBudget, type ParquetDecoding } from './chunk-decoder.ts';
import { ChunkReader } from './chunk-reader.ts';
import { type Decompressors, loadPageInflater, type PageInflater } from './codecs/inflate-page.ts';
import type { Codec } from './metadata/file-metadata.ts';
import type { SchemaTree } from './metadata/schema.ts';
import type { ParquetFile } from './open-parquet.ts';
import { toTableError, translateErrors } from './parquet-error.ts';
import {
  type ChunkPlan,
  type GroupPlan,
  type GroupSpan,
  joinSpans,
  planGroups,
  RANGE_LIMITS,
  spansOf,
} from './plan-chunks.ts';

/** Some rows of a Parquet file, column by column. */
export interface ColumnBatch {
  /** Index of the first row in the file. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** By name; cells are in the form that `compileCell` takes. */
  readonly columns: ReadonlyMap<string, CellValues>;
}

/** Which rows of a file are read, and which columns. */
export interface ReadParquetOptions {
  /** Names; names that the file does not have are left out. */
  readonly columns: readonly string[];
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** They precede the runtime's. */
  readonly decompressors?: Decompressors | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A column that is read. */
interface SelectedColumn {
  readonly name: string;
  readonly leaves: readonly number[];
  readonly root: SchemaTree;
}

const MAX_BATCH_ROWS = 1000;

/**
 * Reads rows of the named columns, in order. Only the pages that hold them are fetched, if the file has a page index or
 * the rows are at the beginning of their group; else the named columns of the row groups. The next bytes are fetched
 * while rows are used.
 *
 * Memory is freed as soon as its rows have been read: the garbage collector would scan the whole heap for every few
 * pages.
 *
 * @throws TableError `damaged_file`, `unsupported_file`; errors of the source; the signal's reason
 */
export async function* readParquet(
  file: ParquetFile,
  options: ReadParquetOptions,
): AsyncGenerator<ColumnBatch> {
  const { footer } = file;
  const columns = selectColumns(file, options);
  const leaves = columns.flatMap((column) => column.leaves);
  const spans = spansOf(footer, options);
  if (leaves.length === 0) {
    yield* rowsWithoutColumns(file, spans);
    return;
  }
  const inflater = loadInflater(file, columns, spans, options.decompressors);
  const decoding = { inflater, budget: new MemoryBudget() };
  const stop = new AbortController();
  const signal = joinSignals(options.signal, stop.signal) ?? stop.signal;
  const fetch = async (
    batch: readonly GroupSpan[],
  ): Promise<{ plans: GroupPlan[]; ranges: FetchedRanges }> => {
    const plans = await planGroups(file, batch, leaves, signal);
    const first = plans.flatMap(({ chunks }) => chunks.flatMap(firstIntervals));
    return { plans, ranges: fetchRanges(file.bytes, first, RANGE_LIMITS, signal) };
  };
  try {
    const batches = joinSpans(spans, file, leaves);
    let next = batches[0] === undefined ? null : fetch(batches[0]);
    for (let index = 1; next !== null; index += 1) {
      const { plans, ranges } = await next;
      const following = batches[index];
      next = following === undefined ? null : fetch(following);
      next?.catch(() => undefined);
      for (const plan of plans) yield* readGroup(file, plan, columns, { ranges, decoding, signal });
      await ranges.release();
    }
  } finally {
    stop.abort(new Error('The remaining rows are not needed.'));
  }
}

/** Decompresses the columns; it reports a compression that cannot be read before anything is fetched. */
function loadInflater(
  { footer, path }: ParquetFile,
  columns: readonly SelectedColumn[],
  spans: readonly GroupSpan[],
  decompressors: Decompressors | undefined,
): PageInflater {
  const codecs = new Map<Codec, string>();
  for (const { name, leaves } of columns) {
    for (const { group } of spans) {
      for (const leaf of leaves) {
        const codec = footer.groups[group]?.chunks[leaf]?.metadata.codec;
        if (codec !== undefined && !codecs.has(codec)) codecs.set(codec, name);
      }
    }
  }
  try {
    return loadPageInflater(codecs, decompressors);
  } catch (error) {
    throw toTableError(error, path, () => '');
  }
}

function selectColumns({ footer }: ParquetFile, options: ReadParquetOptions): SelectedColumn[] {
  const names = new Set(options.columns);
  return footer.columns.flatMap(({ name, leaves, root }) =>
    // If columns have the same name, the first one is read.
    names.delete(name) ? [{ name, leaves, root }] : [],
  );
}

/** Rows are counted even if no column is read. */
function* rowsWithoutColumns({ footer }: ParquetFile, spans: readonly GroupSpan[]): Generator<ColumnBatch> {
  for (const { group, from, to } of spans) {
    const firstRow = footer.groups[group]?.firstRow ?? 0;
    for (let row = from; row < to; row += MAX_BATCH_ROWS) {
      yield { firstRow: firstRow + row, rowCount: Math.min(MAX_BATCH_ROWS, to - row), columns: new Map() };
    }
  }
}

function firstIntervals({ dictionary, pages, firstBytes }: ChunkPlan): ByteInterval[] {
  const first = { start: pages.start, end: pages.start + firstBytes };
  return dictionary === null ? [first] : [dictionary, first];
}

/** Reads the rows of one group, as many at a time as every leaf has decoded. */
async function* readGroup(
  file: ParquetFile,
  plan: GroupPlan,
  columns: readonly SelectedColumn[],
  deps: { ranges: FetchedRanges; decoding: ParquetDecoding; signal: AbortSignal },
): AsyncGenerator<ColumnBatch> {
  const { footer, path } = file;
  const firstRow = footer.groups[plan.group]?.firstRow ?? 0;
  const chunks = new Map(plan.chunks.map((chunk) => [chunk.leaf, chunk]));
  const open = columns.map((column) => ({
    ...column,
    readers: column.leaves.flatMap((leaf) => {
      const chunk = chunks.get(leaf);
      if (chunk === undefined) return [];
      const selection = { group: plan.group, leaf, file: path };
      const decoder = new ChunkDecoder(footer, selection, deps.decoding);
      return [new ChunkReader(file, plan, chunk, { ...deps, decoder })];
    }),
  }));
  const readers = open.flatMap((column) => column.readers);
  for (let row = plan.from; row < plan.to; ) {
    let rowCount = Math.min(plan.to - row, MAX_BATCH_ROWS);
    for (const reader of readers) rowCount = Math.min(rowCount, await reader.prepare());
    const values = new Map<string, CellValues>();
    for (const column of open) {
      const taken = column.readers.map((reader) => reader.take(rowCount));
      values.set(column.name, assembleColumn(column.root, taken, path));
    }
    yield { firstRow: firstRow + row, rowCount, columns: values };
    row += rowCount;
  }
  for (const reader of readers) reader.release();
}

/**
 * Puts the leaves of a column together: the same rows of each, in the schema's order.
 *
 * @param root the column's part of the schema, in which every node has a unique path
 * @throws TableError `damaged_file`
 */
function assembleColumn(root: SchemaTree, leafValues: readonly CellValues[], file: string): CellValues {
  const [only] = leafValues;
  if (root.children.length === 0 && only !== undefined) return only;
  const assemble = (): CellValues => {
    const values = new Map<string, unknown[]>();
    let index = 0;
    const collect = (node: SchemaTree): void => {
      if (node.children.length > 0) node.children.forEach(collect);
      else {
        // Values are only read: typed arrays serve as well as plain ones.
        values.set(node.path.join('.'), (leafValues[index] ?? []) as unknown[]);
        index += 1;
      }
    };
    collect(root);
    assembleNested(values, root);
    return values.get(root.path.join('.')) ?? [];
  };
  return translateErrors(file, assemble, () => `column ${shorten(root.element.name)}: `);
}
