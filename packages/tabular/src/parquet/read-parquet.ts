import { shorten } from '../errors.ts';
import { FetchedRanges } from '../source/byte-ranges.ts';
import type { ByteInterval } from '../source/byte-source.ts';
import { joinSignals } from '../source/turns.ts';
import type { WholeRange } from '../table.ts';
import { assembleNested } from './assemble.ts';
import type { CellValues } from './cells/convert.ts';
import { ChunkReader, type GroupReading } from './chunk-reader.ts';
import { type Decompressors, PageInflater } from './codecs/inflate-page.ts';
import type { Codec } from './metadata/file-metadata.ts';
import type { SchemaTree } from './metadata/schema.ts';
import type { ParquetColumn, ParquetFile } from './open-parquet.ts';
import { translateErrors } from './parquet-error.ts';
import {
  type ChunkPlan,
  type GroupPlan,
  type GroupSpan,
  groupOf,
  joinSpans,
  planGroups,
  spansOf,
} from './plan-chunks.ts';

export interface ColumnBatch {
  /** Index of the first row in the file. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** By name; cells are in the form that `compileCell` takes. */
  readonly columns: ReadonlyMap<string, CellValues>;
}

/** Which rows of a file are read, and which columns; names that the file does not have are left out. */
export interface ReadParquetOptions extends Omit<WholeRange, 'signal'> {
  /** They precede the runtime's. */
  readonly decompressors?: Decompressors | undefined;
  readonly signal?: AbortSignal | undefined;
}

const MAX_BATCH_ROWS = 1000;

/**
 * Reads rows of the named columns, in order. Only the pages that hold them are fetched, if the file has a page index or
 * the rows are at the beginning of their group; else the named columns of the row groups. The next bytes are fetched
 * while rows are used.
 * @throws TableError `damaged_file`, `unsupported_file`; errors of the source; the signal's reason
 */
export async function* readParquet(
  file: ParquetFile,
  options: ReadParquetOptions,
): AsyncGenerator<ColumnBatch> {
  const names = new Set(options.columns);
  const columns = file.columns.filter(({ name }) => names.has(name));
  const leaves = columns.flatMap((column) => column.leaves);
  const spans = spansOf(file, options);
  if (leaves.length === 0) {
    yield* rowsWithoutColumns(file, spans);
    return;
  }
  const inflater = loadInflater(file, columns, spans, options.decompressors);
  const memory = { heldBytes: 0 };
  const stop = new AbortController();
  const signal = joinSignals(options.signal, stop.signal) ?? stop.signal;
  const fetch = async (
    batch: readonly GroupSpan[],
  ): Promise<{ plans: GroupPlan[]; ranges: FetchedRanges }> => {
    const plans = await planGroups(file, batch, leaves, signal);
    const first = plans.flatMap(({ chunks }) => chunks.flatMap(firstIntervals));
    return { plans, ranges: new FetchedRanges(file.bytes, first, signal) };
  };
  try {
    const batches = joinSpans(spans, file, leaves);
    let next = batches[0] === undefined ? null : fetch(batches[0]);
    for (let index = 1; next !== null; index += 1) {
      const { plans, ranges } = await next;
      const following = batches[index];
      next = following === undefined ? null : fetch(following);
      next?.catch(() => undefined);
      for (const plan of plans) yield* readGroup(file, plan, columns, { ranges, inflater, memory, signal });
      await ranges.release();
    }
  } finally {
    stop.abort(new Error('The remaining rows are not needed.'));
  }
}

/** Decompresses the columns; it reports a compression that cannot be read before anything is fetched. */
function loadInflater(
  file: ParquetFile,
  columns: readonly ParquetColumn[],
  spans: readonly GroupSpan[],
  decompressors: Decompressors | undefined,
): PageInflater {
  const codecs = new Map<Codec, string>();
  for (const { name, leaves } of columns) {
    for (const { group } of spans) {
      for (const leaf of leaves) {
        const codec = groupOf(file, group).chunks[leaf]?.metadata.codec;
        if (codec !== undefined && !codecs.has(codec)) codecs.set(codec, name);
      }
    }
  }
  return translateErrors(file.path, () => new PageInflater(codecs, decompressors));
}

/** Rows are counted even if no column is read. */
function* rowsWithoutColumns(file: ParquetFile, spans: readonly GroupSpan[]): Generator<ColumnBatch> {
  for (const { group, from, to } of spans) {
    const { firstRow } = groupOf(file, group);
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
  columns: readonly ParquetColumn[],
  reading: GroupReading,
): AsyncGenerator<ColumnBatch> {
  const { firstRow } = groupOf(file, plan.group);
  const readers = new Map(
    plan.chunks.map((chunk) => [chunk.leaf, new ChunkReader(file, plan, chunk, reading)]),
  );
  for (let row = plan.from; row < plan.to; ) {
    let rowCount = Math.min(plan.to - row, MAX_BATCH_ROWS);
    for (const reader of readers.values()) rowCount = Math.min(rowCount, await reader.prepare());
    const values = new Map<string, CellValues>();
    for (const { name, leaves, root } of columns) {
      const taken = leaves.map((leaf) => readers.get(leaf)?.take(rowCount) ?? []);
      values.set(name, assembleColumn(root, taken, file.path));
    }
    yield { firstRow: firstRow + row, rowCount, columns: values };
    row += rowCount;
  }
  for (const reader of readers.values()) reader.release();
}

function assembleColumn(root: SchemaTree, leafValues: readonly CellValues[], file: string): CellValues {
  const [only] = leafValues;
  if (root.children.length === 0 && only !== undefined) return only;
  const leaves = new Map<SchemaTree, unknown[]>();
  const collect = (node: SchemaTree): void => {
    // Values are only read: typed arrays serve as well as plain ones.
    if (node.children.length === 0) leaves.set(node, (leafValues[leaves.size] ?? []) as unknown[]);
    else node.children.forEach(collect);
  };
  collect(root);
  const place = (): string => `column ${shorten(root.element.name)}: `;
  return translateErrors(file, () => assembleNested(leaves, root), place);
}
