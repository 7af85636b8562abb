import { TableError, unreadableFile } from '../errors.ts';
import { suffixes } from '../format.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { withCompression } from '../source/with-compression.ts';
import { createDecoder, withoutMark } from '../text/encodings.ts';
import { detectCsv } from './detect-csv.ts';
import { detectJson } from './detect-json.ts';
import { checkHints, type DetectedFile, type DetectOptions } from './file-format.ts';
import { startsWith, unsupportedKind } from './file-signature.ts';
import { holdsItems } from './holds-items.ts';
import { readHead } from './read-head.ts';

const ACCEPTED =
  'Accepted are CSV, TSV, JSON Lines, JSON with an array of objects, Parquet and plain text, each also as .gz or .zst';

/**
 * Finds out what a file is, from its first bytes. Its name only decides where the content may be several formats.
 *
 * @throws TypeError for wrong options; TableError `unsupported_file` for a file without a table, `damaged_file`, `invalid_row`; errors of the source;
 *   the signal's reason
 */
export async function detectFormat(source: ByteSource, options: DetectOptions = {}): Promise<DetectedFile> {
  const { signal, ...hints } = options;
  checkHints(hints);
  const { path } = source;
  const { head, compression, isWhole } = await readHead(source, signal);
  if (startsWith(head, 'PAR1') && (hints.format ?? 'parquet') === 'parquet') {
    return { format: 'parquet', compression, options: {} };
  }
  if (hints.format === 'parquet') throw unsupported(path, 'it does not begin as Parquet files do');
  const kind = unsupportedKind(head);
  if (kind !== null) throw unsupported(path, `it is ${kind}`);
  const names = suffixes(path.toLowerCase());
  const isNamedText = hints.format !== undefined || names.some((name) => TEXT_SUFFIXES.includes(name));
  const encoding =
    hints.encoding ?? detectEncoding(head) ?? (isNamedText && isUtf8(head, isWhole) ? 'utf-8' : null);
  if (encoding === null) throw unsupported(path, 'it is binary data of an unknown format');
  const text = decodeHead(head, encoding, isWhole, path);
  const isGuessed = hints.encoding === undefined && encoding !== 'utf-8';
  if (isGuessed && hasControls(text)) throw unsupported(path, 'it is binary data of an unknown format');
  const start = text.trimStart();
  if (start === '') throw unsupported(path, 'it is empty');

  const { format } = hints;
  const mayBeJson =
    format === undefined
      ? /^[[{]/.test(start) || (names.includes('json') && isWhole)
      : format === 'json' || format === 'jsonl';
  if (mayBeJson) {
    const content = withCompression(source, compression);
    const lines = { text: start, isWhole, encoding, signal };
    const json = await detectJson(content, { ...lines, hints });
    if (json !== null) {
      const areItems = json.format === 'jsonl' && (await holdsItems(content, lines));
      const options = { encoding, ...json.options };
      return { format: json.format, compression, options, ...(areItems ? { areItems } : {}) };
    }
  }
  if (format === 'text') return { format, compression, options: { encoding } };
  const csv = detectCsv(text, { isWhole, path, hints });
  if (csv !== null) return { format: csv.format, compression, options: { ...csv.options, encoding } };
  if (names.includes('json')) throw unsupported(path, 'it is not JSON, as its name says; give its format');
  return {
    format: 'text',
    compression,
    options: { encoding },
    ...(names.includes('txt') ? {} : { warnings: [READ_AS_TEXT] }),
  };
}

const READ_AS_TEXT =
  'The file is read as plain text, each line a row, because its content looks like none of the other formats. If it has another format, give it.';

/** Files of these names are text, also with characters that other text does not have. */
const TEXT_SUFFIXES = ['csv', 'tsv', 'txt', 'json', 'jsonl', 'ndjson'];

function isUtf8(head: Uint8Array, isWhole: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}

/** Whether a text begins with characters that no text has. */
function hasControls(text: string): boolean {
  const length = Math.min(text.length, 4096);
  for (let at = 0; at < length; at += 1) if (text.charCodeAt(at) < FIRST_BLANK) return true;
  return false;
}

/** Tab. */
const FIRST_BLANK = 9;

/** The encoding by the byte order mark, or by the zero bytes of ASCII characters in UTF-16; null for binary data. */
function detectEncoding(head: Uint8Array): string | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  const zeros = [0, 0];
  const length = Math.min(head.length, 4096);
  for (let at = 0; at < length; at += 1) {
    if (head[at] === 0) zeros[at % 2] = (zeros[at % 2] as number) + 1;
  }
  const [even = 0, odd = 0] = zeros;
  if (even + odd === 0) return 'utf-8';
  if (even === 0 && odd > length / 8) return 'utf-16le';
  if (odd === 0 && even > length / 8) return 'utf-16be';
  return null;
}

/** @throws TableError `unsupported_file` with the line and column of bytes that are not text */
function decodeHead(head: Uint8Array, encoding: string, isWhole: boolean, path: string): string {
  const decoded = (replaceErrors: boolean): string => {
    const decode = createDecoder({ file: path, encoding, replaceErrors });
    return withoutMark(decode(head) + (isWhole ? decode(null) : ''));
  };
  try {
    return decoded(false);
  } catch (cause) {
    if (cause instanceof TableError) throw cause;
    const readable = decoded(true);
    const before = readable.slice(0, Math.max(0, readable.indexOf('\uFFFD')));
    const line = before.split('\n').length;
    const column = before.length - before.lastIndexOf('\n');
    const message = `Cannot read the file: it is not ${encoding} text; give its encoding in the options. ${ACCEPTED}.`;
    throw new TableError('unsupported_file', message, { location: { file: path, line, column }, cause });
  }
}

function unsupported(path: string, found: string): TableError {
  return unreadableFile('unsupported_file', path, `${found}. ${ACCEPTED}`);
}
