import { countLineFeeds } from '@svc/jsonl-v23/bytes';
import { type ChunkSource, chunksOf } from '@svc/jsonl-v23/streams';
import { shorten, TableError } from '../errors.ts';
import { inSlices } from '../source/turns.ts';
import { decodeText } from './decode-text.ts';
import { encodingOf } from './encodings.ts';
import {
  DEFAULT_MAX_ROW_SIZE,
  invalidRow,
  type LoaderParams,
  type RawRow,
  type TextOptions,
} from './raw-row.ts';
import { readJson } from './read-json.ts';

/**
 * Reads a text file: one row a line, in the one column `text`; blank lines are rows too. Lines end with LF, CRLF or CR.
 *
 * @param params the card's parameters: `sample_by` (`line`, `paragraph` or `document`), `keep_linebreaks`, `encoding`,
 *   `encoding_errors`
 * @throws TableError `invalid_row` with file and line; `unsupported_file` for parameters that are not supported
 */
export async function* readText(
  source: AsyncIterable<Uint8Array>,
  params: LoaderParams,
  options: TextOptions,
): AsyncGenerator<RawRow, void, undefined> {
  const { file, signal, maxRowSize = DEFAULT_MAX_ROW_SIZE } = options;
  const sampleBy = params['sample_by'] ?? 'line';
  if (sampleBy !== 'line' && sampleBy !== 'paragraph' && sampleBy !== 'document') {
    throw new TableError('unsupported_file', `Unknown value of sample_by: ${shorten(String(sampleBy))}.`);
  }
  const ending = sampleBy === 'line' ? '\n' : sampleBy === 'paragraph' ? '\n\n' : null;
  const kept = sampleBy === 'line' && params['keep_linebreaks'] === true ? '\n' : '';
  const pieces = decodeText(source, { file, ...encodingOf(params), signal });

  let rest: string[] = [];
  let restSize = 0;
  let line = 1;
  for await (const piece of withPlainLineEnds(pieces)) {
    let text = piece;
    // Only a new line end can end a row: earlier text has been searched, except half of a double line end.
    if (ending !== null && (text.includes(ending) || (ending === '\n\n' && rest.at(-1)?.endsWith('\n')))) {
      text = rest.join('') + text;
      let start = 0;
      for (let end = text.indexOf(ending); end !== -1; end = text.indexOf(ending, start)) {
        const row = text.slice(start, end);
        checkSize(row.length);
        // Empty paragraphs are skipped.
        if (sampleBy === 'line' || row !== '') yield rowOf(row + kept);
        line += countLineFeeds(row) + ending.length;
        start = end + ending.length;
      }
      rest = [];
      restSize = 0;
      text = text.slice(start);
    }
    if (text === '') continue;
    rest.push(text);
    restSize += text.length;
    checkSize(restSize);
  }
  if (restSize > 0) yield rowOf(rest.join(''));

  function rowOf(text: string): RawRow {
    return { row: { text }, line, size: text.length + 1 };
  }
  function checkSize(size: number): void {
    if (size > maxRowSize)
      throw invalidRow(`The row is longer than ${maxRowSize} characters.`, { file, line });
  }
}

/** Texts in which CRLF and CR are LF, also where a piece ends between the two. */
async function* withPlainLineEnds(pieces: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let held = '';
  for await (const piece of pieces) {
    const text = held + piece;
    held = text.endsWith('\r') ? '\r' : '';
    const whole = held === '' ? text : text.slice(0, -1);
    if (whole !== '') yield whole.includes('\r') ? whole.replace(/\r\n?/g, '\n') : whole;
  }
  if (held !== '') yield '\n';
}

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
