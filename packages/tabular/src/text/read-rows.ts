import { type ChunkSource, chunksOf } from '@svc/jsonl-v23/streams';
import { TableError } from '../errors.ts';
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
 * @param params the card's parameters: `encoding`, `encoding_errors`; no others that make other rows
 * @throws TableError `invalid_row` with file and line; `unsupported_file` for parameters that are not supported
 */
export async function* readText(
  source: AsyncIterable<Uint8Array>,
  params: LoaderParams,
  { file, signal, maxRowSize = DEFAULT_MAX_ROW_SIZE }: TextOptions,
): AsyncGenerator<RawRow, void, undefined> {
  if ((params['sample_by'] ?? 'line') !== 'line' || params['keep_linebreaks'] === true) {
    throw new TableError('unsupported_file', 'Text files of other rows than lines are not supported.');
  }
  const pieces = decodeText(source, { file, ...encodingOf(params), signal });
  let text = '';
  let line = 1;
  for await (const piece of withPlainLineEnds(pieces)) {
    for (const [index, part] of piece.split('\n').entries()) {
      if (index > 0) {
        yield { row: { text }, line, size: text.length + 1 };
        text = '';
        line += 1;
      }
      text += part;
      if (text.length > maxRowSize) {
        throw invalidRow(`The row is longer than ${maxRowSize} characters.`, { file, line });
      }
    }
  }
  if (text !== '') yield { row: { text }, line, size: text.length + 1 };
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

/** Reads the rows of a JSON or text file, from its decompressed bytes. Ending the iteration closes the source. */
export function readRows(
  source: ChunkSource<Uint8Array>,
  format: 'json' | 'text',
  { params = {}, ...options }: TextOptions,
): AsyncGenerator<RawRow, void, undefined> {
  // A stream is locked when its first row is read.
  const chunks = {
    [Symbol.asyncIterator]: () => inSlices({ [Symbol.asyncIterator]: () => chunksOf(source) }),
  };
  return format === 'json' ? readJson(chunks, params, options) : readText(chunks, params, options);
}
