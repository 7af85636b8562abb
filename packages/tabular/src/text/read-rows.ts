import { type ChunkSource, chunksOf } from '@svc/jsonl-v23/internal';
import { inSlices } from '../source/turns.ts';
import type { LoaderParams, RawRow, TextOptions } from './raw-row.ts';
import { readJson } from './read-json.ts';
import { readText } from './read-text.ts';

/** Options of `readRows`. */
export interface ReadOptions extends TextOptions {
  /** Parameters of the format; default none. */
  readonly params?: LoaderParams | undefined;
}

/**
 * Reads the rows of a JSON or text file, from its decompressed bytes. Memory is bounded by one row and one piece of the
 * source; ending the iteration closes the source.
 *
 * @throws TableError `invalid_row` with file and line, `unsupported_file` for parameters that are not supported; errors of
 *   the source
 */
export function readRows(
  source: ChunkSource<Uint8Array>,
  format: 'json' | 'text',
  { params = {}, ...options }: ReadOptions,
): AsyncGenerator<RawRow, void, undefined> {
  // A stream is locked when its first row is read.
  const chunks = {
    [Symbol.asyncIterator]: () => inSlices({ [Symbol.asyncIterator]: () => chunksOf(source) }),
  };
  return format === 'json' ? readJson(chunks, params, options) : readText(chunks, params, options);
}
