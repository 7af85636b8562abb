import { type JsonObject, setMember } from '@svc/jsonl-v23/json';
import { decompress } from '#runtime';
import { TableError } from '../errors.ts';
import { compressionOf } from '../format.ts';
import type { Features } from '../schema/features.ts';
import {
  createInference,
  type RowTyping,
  type TextFormat,
  TYPING_WINDOW_ROWS,
  TYPING_WINDOW_SIZE,
} from '../schema/infer-schema.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { createExpansionMeter } from '../source/expansion-limit.ts';
import { type RowBatch, type RowRange, type SplitSource, toCellRows } from '../table.ts';
import type { LoaderParams, RawRow } from './raw-row.ts';
import { readRows } from './read-rows.ts';

/** Files of this size together are read whole at first: their types and counts are then exact. */
const SMALL_BYTES = 16 * 1024 * 1024;
/** What a compressed file is taken to hold. */
const EXPECTED_RATIO = 4;
/** Further files whose beginnings are looked at for their columns. */
const MAX_SAMPLED_FILES = 4;
const SAMPLE_SIZE = 64 * 1024;
/** Rows are handed on in batches of about this size, in characters. */
const BATCH_SIZE = 1024 * 1024;
const MAX_BATCH_ROWS = 1000;
/** Every row has all columns, so a short one may become a long one. */
const MAX_COLUMNS = 50_000;
const NULL_SIZE = 4;

/** A file and what was kept of its beginning. */
interface KeptFile {
  remote: ByteSource;
  head: Uint8Array[];
}

/**
 * Opens text files (JSON, CSV, lines) of several splits of one subset. Their columns are found by looking: at all rows
 * where the files are small or the rows must be counted, else at the first rows. What was downloaded for that is
 * kept and not downloaded again.
 *
 * @param options.count names of the splits whose rows must be counted
 */
export async function openTextSources(
  splits: ReadonlyMap<string, readonly ByteSource[]>,
  options: {
    format: TextFormat;
    params: LoaderParams;
    declared: Features | null;
    count: ReadonlySet<string>;
    signal: AbortSignal | undefined;
  },
): Promise<Map<string, SplitSource>> {
  const { format, params, signal } = options;
  const builder = createInference(format, options.declared);
  const kept = new Map(
    [...splits].map(([name, files]) => [name, files.map((remote): KeptFile => ({ remote, head: [] }))]),
  );
  let keepBytes = SMALL_BYTES;
  const counts = new Map<string, number>();
  const seen = new Map<string, number>();
  let unreadRow: TableError | undefined;
  let window = TYPING_WINDOW_SIZE;
  for (const [name, files] of kept) {
    const size = files.reduce((sum, { remote }) => sum + likelySize(remote), 0);
    if (size <= SMALL_BYTES || options.count.has(name)) {
      const { count, complete } = await countRows(files, options.count.has(name));
      seen.set(name, count);
      if (complete) counts.set(name, count);
      continue;
    }
    const [first, ...others] = files;
    const looked = await look(first!, Math.max(window, SAMPLE_SIZE));
    window -= looked.size;
    seen.set(name, looked.count);
    const step = Math.max(1, Math.ceil(others.length / MAX_SAMPLED_FILES));
    for (let index = 0; index < others.length; index += step) await look(others[index]!, SAMPLE_SIZE);
  }
  const typing = builder.finish();
  if (typing.features.length > MAX_COLUMNS) {
    throw new TableError(
      'unsupported_file',
      `Cannot read the files: they have more than ${MAX_COLUMNS} columns`,
    );
  }

  /** Stops at a row that cannot be read where the count was not asked for: the rows before it can be shown. */
  async function countRows(
    files: readonly KeptFile[],
    needed: boolean,
  ): Promise<{ count: number; complete: boolean }> {
    let count = 0;
    try {
      for (const file of files) {
        for await (const row of rowsOf(file, signal)) {
          builder.add(row);
          count++;
        }
      }
    } catch (error) {
      if (needed || !(error instanceof TableError && error.code === 'invalid_row')) throw error;
      unreadRow ??= error;
      return { count, complete: false };
    }
    return { count, complete: true };
  }

  /** Looks at the first rows of a file. */
  async function look(file: KeptFile, enough: number): Promise<{ count: number; size: number }> {
    let count = 0;
    let size = 0;
    for await (const row of rowsOf(file, signal)) {
      builder.add(row);
      count++;
      size += row.size;
      if (size >= enough || count >= TYPING_WINDOW_ROWS) break;
    }
    return { count, size };
  }

  function rowsOf(file: KeptFile, reading: AbortSignal | undefined): AsyncGenerator<RawRow> {
    const source = inflated(file, reading, (chunk) => {
      if (chunk.length > keepBytes) return false;
      keepBytes -= chunk.length;
      return true;
    });
    const read = { file: file.remote.path, ...(reading && { signal: reading }) };
    return readRows(source, format, params, read);
  }

  return new Map(
    [...kept].map(([name, files]): [string, SplitSource] => {
      const read = ({ signal: reading, ...range }: RowRange): AsyncGenerator<RowBatch> =>
        readSplit(files, (file) => rowsOf(file, reading), typing, range);
      return [
        name,
        {
          features: typing.features,
          unreadRow,
          rowCount: counts.get(name) ?? null,
          atLeastRows: seen.get(name) ?? 0,
          read,
          readCells: (range) => toCellRows(read(range), range.columns),
        },
      ];
    }),
  );
}

function likelySize({ path, byteLength }: ByteSource): number {
  return compressionOf(path) === null ? byteLength : byteLength * EXPECTED_RATIO;
}

async function* readSplit(
  files: readonly KeptFile[],
  rowsOf: (file: KeptFile) => AsyncGenerator<RawRow>,
  typing: RowTyping,
  range: { from: number; to: number | null; columns: readonly string[] },
): AsyncGenerator<RowBatch> {
  const { from, columns } = range;
  const to = range.to ?? Number.POSITIVE_INFINITY;
  let index = 0;
  let rows: JsonObject[] = [];
  let size = 0;
  for (const file of files) {
    if (index >= to) break;
    for await (const raw of rowsOf(file)) {
      if (index >= from) {
        const row = typing.toRow(raw.row);
        rows.push(pick(row, columns));
        // Columns that a row lacks are null in it.
        size += Math.max(raw.size, columns.length * NULL_SIZE);
      }
      index++;
      if (index >= to) break;
      if (size >= BATCH_SIZE || rows.length >= MAX_BATCH_ROWS) {
        yield { firstRow: index - rows.length, rows };
        rows = [];
        size = 0;
      }
    }
  }
  if (rows.length > 0) yield { firstRow: index - rows.length, rows };
}

function pick(row: JsonObject, columns: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const name of columns) setMember(picked, name, Object.hasOwn(row, name) ? row[name]! : null);
  return picked;
}

/**
 * The content of a file, decompressed. What comes over the net is kept as long as `keep` wants it, and handed out again
 * the next time.
 */
function inflated(
  file: KeptFile,
  signal: AbortSignal | undefined,
  keep: (chunk: Uint8Array) => boolean,
): AsyncIterable<Uint8Array> {
  const { remote, head } = file;
  const known = head.length;
  let sourceError: unknown;
  async function* raw(reading: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    let index = 0;
    let keeping = true;
    try {
      for await (const chunk of remote.stream(reading, head.slice(0, known))) {
        if (index++ >= known && keeping) {
          // Pieces are kept without gaps, and by one reader at a time.
          keeping = head.length === index - 1 && keep(chunk);
          if (keeping) head.push(chunk);
        }
        yield chunk;
      }
    } catch (error) {
      sourceError = error;
      throw error;
    }
  }
  const compression = compressionOf(remote.path);
  if (compression !== 'gzip' && compression !== 'zstd') return raw(signal);
  return (async function* inflate() {
    try {
      const pieces = decompress(compression, (ended) =>
        raw(signal === undefined ? ended : AbortSignal.any([signal, ended])),
      );
      const meter = createExpansionMeter(remote);
      for await (const piece of pieces) {
        meter.add(piece.length);
        yield piece;
      }
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof TableError || cause === sourceError) throw cause;
      throw new TableError('damaged_file', `The file is not readable as ${compression}`, {
        location: { file: remote.path },
        cause,
      });
    }
  })();
}
