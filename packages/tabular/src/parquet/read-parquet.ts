import { yieldToEventLoop } from '#runtime';
import { TableError } from '../errors.ts';
import type { Features } from '../schema/features.ts';
import { type ByteRuns, fetchRanges } from '../source/byte-ranges.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { joinSignals } from '../source/join-signals.ts';
import {
  assembleColumn,
  type ByteInterval,
  type ChunkDecoder,
  type ColumnValues,
  createParquetDecoding,
  decodeChunk,
  FOOTER_TAIL_BYTES,
  footerLength,
  type PageLocation,
  type ParquetChunk,
  type ParquetDecoding,
  type ParquetFooter,
  parseFooter,
  parseOffsetIndex,
} from './parquet-codec.ts';

/** A Parquet file whose footer is known. */
export interface ParquetFile {
  readonly path: string;
  readonly rowCount: number;
  readonly features: Features;
  readonly footer: ParquetFooter;
  /** The file; what the footer's request brought along is read from memory. */
  readonly bytes: ByteSource;
}

/** Some rows of a Parquet file, column by column. What the columns hold can be read until the next batch is asked for. */
export interface ColumnBatch {
  /** Index of the first row in the file. */
  firstRow: number;
  rowCount: number;
  /** By name; cells are as `compileCell` takes them. */
  columns: ReadonlyMap<string, ColumnValues>;
}

/** What is asked for with the footer: a thousandth of the file holds most footers and page indexes. */
const MIN_TAIL_BYTES = 64 * 1024;
const MAX_TAIL_BYTES = 512 * 1024;

/** Row groups are fetched together up to this size; larger ones page by page. */
const BATCH_BYTES = 16 * 1024 * 1024;
/** What is read over to save a request: some 10 ms of transfer. */
const LIMITS = { maxGapBytes: 256 * 1024, maxRunBytes: BATCH_BYTES };
/** A group of this size is fetched whole although some rows of it would do. */
const SMALL_GROUP_BYTES = 1024 * 1024;
/** Size to which writers fill a page before compression. */
const EXPECTED_PAGE_BYTES = 1024 * 1024;
/** Blocks of all columns of a large row group, two of each. */
const READ_AHEAD_BYTES = 64 * 1024 * 1024;
const MIN_BLOCK_BYTES = 256 * 1024;
const MAX_BLOCK_BYTES = 8 * 1024 * 1024;
const MAX_BATCH_ROWS = 1000;
/** After this long without waiting for anything, others get their turn. */
const MAX_STEP_MS = 10;

/**
 * Opens a Parquet file: one request for its footer, two where that is unusually long.
 *
 * @throws TableError `damaged_file` where the file is damaged, `unsupported_file` where it is encrypted or
 *   larger than can be read, and those of reading
 */
export async function openParquet(file: ByteSource, signal?: AbortSignal): Promise<ParquetFile> {
  const { byteLength, path } = file;
  const guess = Math.min(Math.max(Math.ceil(byteLength / 1000), MIN_TAIL_BYTES), MAX_TAIL_BYTES);
  let start = Math.max(0, byteLength - guess);
  let tail: Uint8Array<ArrayBuffer> = await file.readRange(start, byteLength, signal);
  const length = footerLength(tail.subarray(-FOOTER_TAIL_BYTES), path, byteLength);
  if (length > tail.length) {
    const missing = await file.readRange(byteLength - length, start, signal);
    const whole = new Uint8Array(length);
    whole.set(missing);
    whole.set(tail, missing.length);
    tail = whole;
    start = byteLength - length;
  }
  const footer = parseFooter(tail, path, byteLength);
  const { rowCount, features } = footer;
  return { path, rowCount, features, footer, bytes: withTail(file, start, tail) };
}

/** A file whose end is in memory. */
function withTail(file: ByteSource, tailStart: number, tail: Uint8Array<ArrayBuffer>): ByteSource {
  return {
    ...file,
    async readRange(start, end, signal) {
      if (start < tailStart) return await file.readRange(start, end, signal);
      return tail.slice(start - tailStart, end - tailStart);
    },
  };
}

/** Rows of one row group that are to be read. `from` and `to` count from the group's first row. */
interface GroupTask {
  group: number;
  from: number;
  to: number;
  chunks: ChunkTask[];
}

/** How one leaf of a group is read. */
interface ChunkTask {
  leaf: number;
  chunk: ParquetChunk;
  /** The dictionary, where the page index tells it from the pages. */
  dictionary: ByteInterval | null;
  /** The bytes in which the wanted rows are. */
  pages: ByteInterval;
  /** Whether all of `pages` is wanted, and not only the beginning. */
  exact: boolean;
  /** Row of the group with which `pages` begins. */
  firstRow: number;
  /** How much is fetched at first, with that of the other leaves. */
  firstBytes: number;
}

/**
 * Reads rows `from` to `to` (exclusive) of the named columns, in order. Only the pages that hold them are fetched,
 * where the file has a page index or the rows stand at the beginning of their group; else the named columns of the
 * row groups. While rows are consumed, the next bytes are on their way. Columns the file lacks are left out.
 *
 * What has been read is given back at once, and not left to the garbage collector, which would look through the whole
 * heap for every few pages.
 */
export async function* readParquet(
  file: ParquetFile,
  options: {
    columns: readonly string[];
    from: number;
    to: number;
    /** Columns of texts, one to a row, that come as `StringColumn`, or as bytes where their encoding has no slices. */
    textSlices?: ReadonlySet<string>;
    signal?: AbortSignal | undefined;
  },
): AsyncGenerator<ColumnBatch> {
  const { footer } = file;
  const wanted = new Set(options.columns);
  const columns = footer.columns.flatMap(({ name, leaves }, index) =>
    wanted.delete(name) ? [{ name, index, leaves, textSlices: options.textSlices?.has(name) ?? false }] : [],
  );
  const leaves = columns.flatMap((column) => column.leaves);
  const decoding = createParquetDecoding();
  const stop = new AbortController();
  const signal = joinSignals(options.signal, stop.signal)!;

  const spans: Array<{ group: number; from: number; to: number }> = [];
  for (const [group, { firstRow, rowCount }] of footer.groups.entries()) {
    const from = Math.max(options.from - firstRow, 0);
    const to = Math.min(options.to - firstRow, rowCount);
    if (from < to) spans.push({ group, from, to });
  }
  if (leaves.length === 0) {
    // Rows without columns are rows all the same.
    for (const { group, from, to } of spans) {
      for (let row = from; row < to; row += MAX_BATCH_ROWS) {
        const rowCount = Math.min(MAX_BATCH_ROWS, to - row);
        yield { firstRow: footer.groups[group]!.firstRow + row, rowCount, columns: new Map() };
      }
    }
    return;
  }

  const batches = joinSpans(spans, footer, leaves);
  const begin = async (batch: (typeof batches)[number]): Promise<{ tasks: GroupTask[]; runs: ByteRuns }> => {
    const tasks = await planGroups(file, batch, leaves, signal);
    const first = tasks.flatMap(({ chunks }) => chunks.flatMap(firstIntervals));
    return { tasks, runs: fetchRanges(file.bytes, first, LIMITS, signal) };
  };
  try {
    let next = batches.length > 0 ? begin(batches[0]!) : null;
    for (let index = 0; next !== null; index++) {
      const { tasks, runs } = await next;
      const following = batches[index + 1];
      next = following === undefined ? null : begin(following);
      next?.catch(() => undefined);
      for (const task of tasks) yield* readGroup(file, task, columns, runs, leaves.length, decoding, signal);
      await runs.release();
    }
  } finally {
    stop.abort(new Error('not read on'));
  }
}

interface WantedColumn {
  name: string;
  /** Of the file's columns. */
  index: number;
  leaves: readonly number[];
  textSlices: boolean;
}

/** Consecutive groups that are fetched together. */
function joinSpans<S extends { group: number }>(
  spans: readonly S[],
  footer: ParquetFooter,
  leaves: readonly number[],
): S[][] {
  const batches: S[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const span of spans) {
    const size = groupBytes(footer, span.group, leaves);
    if (bytes + size > BATCH_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(span);
    bytes += size;
  }
  return batches;
}

function groupBytes(footer: ParquetFooter, group: number, leaves: readonly number[]): number {
  const { chunks } = footer.groups[group]!;
  return leaves.reduce((sum, leaf) => sum + chunks[leaf]!.end - chunks[leaf]!.start, 0);
}

async function planGroups(
  file: ParquetFile,
  spans: ReadonlyArray<{ group: number; from: number; to: number }>,
  leaves: readonly number[],
  signal: AbortSignal,
): Promise<GroupTask[]> {
  const { footer } = file;
  const blockBytes = blockSize(leaves.length);
  const narrow = (span: (typeof spans)[number]): boolean =>
    span.to - span.from < footer.groups[span.group]!.rowCount &&
    groupBytes(footer, span.group, leaves) > SMALL_GROUP_BYTES;
  const indexes = spans.filter(narrow).flatMap(({ group }) => {
    const { chunks } = footer.groups[group]!;
    return leaves.map((leaf) => chunks[leaf]!.offsetIndex).filter((interval) => interval !== null);
  });
  const runs = fetchRanges(file.bytes, indexes, LIMITS, signal);

  const tasks: GroupTask[] = [];
  for (const span of spans) {
    const { rowCount, chunks } = footer.groups[span.group]!;
    const large = groupBytes(footer, span.group, leaves) > BATCH_BYTES;
    const planned: ChunkTask[] = [];
    for (const leaf of leaves) {
      const chunk = chunks[leaf]!;
      let locations: PageLocation[] | null = null;
      if (narrow(span) && chunk.offsetIndex !== null) {
        locations = parseOffsetIndex(await runs.get(chunk.offsetIndex), chunk, rowCount);
      }
      planned.push({
        leaf,
        chunk,
        ...planBytes(chunk, span, rowCount, locations, narrow(span), large ? blockBytes : Infinity),
      });
    }
    tasks.push({ ...span, chunks: planned });
  }
  return tasks;
}

function blockSize(leafCount: number): number {
  return Math.min(Math.max(READ_AHEAD_BYTES / 2 / leafCount, MIN_BLOCK_BYTES), MAX_BLOCK_BYTES);
}

function planBytes(
  chunk: ParquetChunk,
  span: { from: number; to: number },
  rowCount: number,
  locations: readonly PageLocation[] | null,
  narrow: boolean,
  blockBytes: number,
): Pick<ChunkTask, 'dictionary' | 'pages' | 'exact' | 'firstRow' | 'firstBytes'> {
  if (locations !== null) {
    // The page index lists data pages; what stands before the first of them is the dictionary.
    const first = locations.findLast((page) => page.firstRow <= span.from)!;
    const last = locations.findLast((page) => page.firstRow < span.to)!;
    const start = locations[0]!.start;
    const dictionary = start > chunk.start ? { start: chunk.start, end: start } : null;
    const pages = { start: first.start, end: last.end };
    const firstBytes = Math.min(pages.end - pages.start, blockBytes);
    return { dictionary, pages, exact: true, firstRow: first.firstRow, firstBytes };
  }
  const size = chunk.end - chunk.start;
  let firstBytes = Math.min(size, blockBytes);
  if (narrow) {
    const ratio = chunk.uncompressedBytes === 0 ? 1 : size / chunk.uncompressedBytes;
    const page = Math.ceil(EXPECTED_PAGE_BYTES * ratio * 1.1) + 4096;
    const share = Math.ceil((size - chunk.dictionaryBytes) * (span.to / rowCount) * 1.1);
    firstBytes = Math.min(firstBytes, chunk.dictionaryBytes + Math.max(page, share));
  }
  return { dictionary: null, pages: chunk, exact: !narrow, firstRow: 0, firstBytes };
}

function firstIntervals({ dictionary, pages, firstBytes }: ChunkTask): ByteInterval[] {
  const first = { start: pages.start, end: pages.start + firstBytes };
  return dictionary === null ? [first] : [dictionary, first];
}

/** Reads the rows of one group, as many at a time as lie decoded side by side in every leaf. */
async function* readGroup(
  file: ParquetFile,
  task: GroupTask,
  columns: readonly WantedColumn[],
  runs: ByteRuns,
  leafCount: number,
  decoding: ParquetDecoding,
  signal: AbortSignal,
): AsyncGenerator<ColumnBatch> {
  const { footer, path } = file;
  const { firstRow } = footer.groups[task.group]!;
  const sliced = new Set(columns.flatMap((column) => (column.textSlices ? column.leaves : [])));
  const readers = new Map(
    task.chunks.map((chunk) => [
      chunk.leaf,
      new ChunkReader(
        file,
        task,
        chunk,
        runs,
        blockSize(leafCount),
        decodeChunk(file.footer, task.group, chunk.leaf, file.path, decoding, sliced.has(chunk.leaf)),
        signal,
      ),
    ]),
  );
  for (let row = task.from; row < task.to; ) {
    let rowCount = Math.min(task.to - row, MAX_BATCH_ROWS);
    for (const reader of readers.values()) rowCount = Math.min(rowCount, await reader.prepare());
    const values = new Map<string, ColumnValues>();
    for (const { name, index, leaves } of columns) {
      const taken = leaves.map((leaf) => readers.get(leaf)!.take(rowCount));
      values.set(name, assembleColumn(footer, index, taken, path));
    }
    yield { firstRow: firstRow + row, rowCount, columns: values };
    row += rowCount;
  }
  for (const reader of readers.values()) reader.release();
}

/** The rows of one leaf of a row group, page by page. */
class ChunkReader {
  readonly #file: ParquetFile;
  readonly #task: ChunkTask;
  readonly #runs: ByteRuns;
  readonly #blockBytes: number;
  readonly #signal: AbortSignal;
  readonly #decoder: ChunkDecoder;
  /** Bytes that are here and not decoded, and where they begin in the file. */
  #bytes: Uint8Array = new Uint8Array();
  #at: number;
  #ahead: Promise<Uint8Array<ArrayBuffer>> | null = null;
  /** Rows still to be dropped before the first wanted one. */
  #skip: number;
  #begun = false;

  constructor(
    file: ParquetFile,
    group: GroupTask,
    task: ChunkTask,
    runs: ByteRuns,
    blockBytes: number,
    decoder: ChunkDecoder,
    signal: AbortSignal,
  ) {
    this.#file = file;
    this.#task = task;
    this.#runs = runs;
    this.#blockBytes = blockBytes;
    this.#signal = signal;
    this.#decoder = decoder;
    this.#at = task.pages.start;
    this.#skip = group.from - task.firstRow;
  }

  /** Decodes until at least one wanted row is ready. */
  async prepare(): Promise<number> {
    const decoder = this.#decoder;
    if (!this.#begun) await this.#begin();
    let begunMs = performance.now();
    while (true) {
      this.#signal.throwIfAborted();
      const dropped = Math.min(this.#skip, decoder.ready);
      if (dropped > 0) {
        decoder.take(dropped);
        this.#skip -= dropped;
      }
      if (decoder.ready > 0) return decoder.ready;
      if (decoder.hasMore) decoder.decode();
      else await this.#nextPage();
      if (performance.now() - begunMs > MAX_STEP_MS) {
        await yieldToEventLoop();
        begunMs = performance.now();
      }
    }
  }

  take(count: number): ColumnValues {
    return this.#decoder.take(count);
  }

  release(): void {
    this.#decoder.release();
  }

  async #begin(): Promise<void> {
    this.#begun = true;
    const { dictionary, pages, firstBytes } = this.#task;
    if (dictionary !== null) await this.#decoder.page(await this.#runs.get(dictionary));
    this.#bytes = await this.#runs.get({ start: pages.start, end: pages.start + firstBytes });
  }

  async #nextPage(): Promise<void> {
    const decoder = this.#decoder;
    const { pages } = this.#task;
    while (true) {
      if (this.#at === pages.end) {
        decoder.finish();
        if (decoder.ready === 0) throw this.#damaged('a column has fewer rows than its group');
        return;
      }
      const head = decoder.head(this.#bytes);
      // Twice as much each time: a header that does not end costs no more than reading its bytes twice.
      const length =
        head === null
          ? Math.min(this.#bytes.length * 2 + 1, Math.max(pages.end - this.#at, this.#bytes.length + 1))
          : head.headerBytes + head.bodyBytes;
      if (length > this.#bytes.length) {
        if (this.#at + length > pages.end) throw this.#damaged('a page is cut off');
        await this.#more(length);
        continue;
      }
      const page = this.#bytes.subarray(0, length);
      this.#bytes = this.#bytes.subarray(length);
      this.#at += length;
      this.#readAhead();
      if (head === null || head.kind === 'other') continue;
      // A page before the first wanted row is passed over where its head says how many rows it has.
      if (head.kind === 'data' && head.rows !== null && head.rows <= this.#skip) {
        this.#skip -= head.rows;
        continue;
      }
      await decoder.page(page);
      return;
    }
  }

  /** Appends the next bytes, so that at least `length` of them are here. */
  async #more(length: number): Promise<void> {
    const fetchedTo = this.#at + this.#bytes.length;
    const block = await (this.#ahead ?? this.#fetch(fetchedTo, length - this.#bytes.length));
    this.#ahead = null;
    const joined = new Uint8Array(this.#bytes.length + block.length);
    joined.set(this.#bytes);
    joined.set(block, this.#bytes.length);
    block.buffer.transfer(0);
    this.#bytes = joined;
  }

  /** Fetches the next block while the current one is decoded, where all of the pages are wanted. */
  #readAhead(): void {
    const fetchedTo = this.#at + this.#bytes.length;
    if (!this.#task.exact || this.#ahead !== null || fetchedTo === this.#task.pages.end) return;
    this.#ahead = this.#fetch(fetchedTo, 1);
    this.#ahead.catch(() => undefined);
  }

  #fetch(start: number, atLeastBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const { pages, exact, firstBytes } = this.#task;
    const step = exact ? this.#blockBytes : firstBytes;
    const end = Math.min(start + Math.max(step, atLeastBytes), pages.end);
    return this.#file.bytes.readRange(start, end, this.#signal);
  }

  #damaged(reason: string): TableError {
    return new TableError('damaged_file', `Cannot read the Parquet file: ${reason}`, {
      location: { file: this.#file.path },
    });
  }
}
