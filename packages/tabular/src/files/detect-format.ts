import { TableError, unreadableFile } from '../errors.ts';
import { type ByteSource, withCompression } from '../source/byte-source.ts';
import { createDecoder, withoutMark } from '../text/encodings.ts';
import { detectCsv } from './detect-csv.ts';
import { detectJson, holdsItems } from './detect-json.ts';
import {
  checkHints,
  type DetectedFile,
  type DetectOptions,
  type FileFormat,
  formatByName,
  titleOf,
} from './file-format.ts';
import { knownText, type NoTable, startsWith, unsupportedKind } from './known-kinds.ts';
import { readHead } from './read-head.ts';

const ACCEPTED =
  'Accepted are CSV, TSV, JSON Lines, JSON with an array of objects, Parquet and plain text, each also as .gz or .zst';

/** What a file holds: a table, or nothing that can be one. */
export type Inspection =
  | {
      readonly detected: DetectedFile;
      /** Whether it is one JSON object, which a file of configuration is, too. */
      readonly isObject: boolean;
    }
  | NoTable;

/**
 * Finds out what a file is, from its first bytes. A name that says JSON Lines, JSON or Parquet is believed: no other content
 * is read. Other names only decide where the content may be several formats. A given format is believed before the name.
 *
 * @throws TypeError for wrong options; TableError `unsupported_file` for a file without a table, `damaged_file`, `invalid_row`; errors of the source;
 *   the signal's reason
 */
export async function detectFormat(source: ByteSource, options: DetectOptions = {}): Promise<DetectedFile> {
  const found = await inspectFile(source, options);
  if ('detected' in found) return found.detected;
  throw noTable(source.path, found);
}

/** The error for a file without a table. */
export function noTable(file: string, { reason, advice = '' }: NoTable): TableError {
  return unreadableFile('unsupported_file', file, `${reason}${advice}`);
}

/**
 * As `detectFormat`, but a file without a table is a reason and no error.
 *
 * @throws TypeError; TableError `unsupported_file` for a text in an encoding that must be given, `damaged_file`; errors of the source; the signal's reason
 */
export async function inspectFile(source: ByteSource, options: DetectOptions = {}): Promise<Inspection> {
  const { signal, ...hints } = options;
  checkHints(hints);
  const { path } = source;
  const { format } = hints;
  const named = format === undefined ? formatByName(path) : undefined;
  const { head, compression, isWhole } = await readHead(source, signal);
  const misnamed = (found: string): NoTable => ({
    reason: `it is not ${titleOf(named as FileFormat)}, as its name says, but ${found}`,
    advice: '; rename it or give its format',
  });
  if (startsWith(head, 'PAR1') && (format ?? 'parquet') === 'parquet') {
    if (named === 'json' || named === 'jsonl') return misnamed('a Parquet file');
    return { detected: { format: 'parquet', compression, options: {} }, isObject: false };
  }
  const kind = unsupportedKind(head);
  if (kind !== null) return { reason: `it is ${kind}`, advice: `. ${ACCEPTED}` };
  if (format === 'parquet')
    return { reason: 'it does not begin as Parquet files do', advice: `. ${ACCEPTED}` };
  if (named === 'parquet') {
    const text = new TextDecoder().decode(head);
    const isBinary = hasControls(text) || text.slice(0, text.length - 3).includes('\uFFFD');
    if (isBinary) return misnamed('binary data of an unknown format');
  }
  const isNamedText = format !== undefined || (named !== undefined && named !== 'parquet');
  const encoding =
    hints.encoding ?? detectEncoding(head) ?? (isNamedText && isUtf8(head, isWhole) ? 'utf-8' : null);
  const isGuessed = hints.encoding === undefined && encoding !== 'utf-8';
  const text = encoding === null ? '' : decodeHead(head, encoding, isWhole, path);
  if (encoding === null || (isGuessed && hasControls(text))) {
    return { reason: 'it is binary data of an unknown format', advice: `. ${ACCEPTED}` };
  }
  const start = text.trimStart();
  if (start === '') return { reason: 'it is empty' };
  const known = format === undefined ? knownText(start, named === 'text') : null;
  if (known !== null) return known;

  const describe = (): string => {
    if (/^[[{]/.test(start)) return 'JSON';
    return detectCsv(text, { isWhole, path: '', hints: {} }) === null
      ? 'plain text'
      : 'text that looks like CSV';
  };
  if (named === 'parquet') return misnamed(describe());
  const isNamedJson = named === 'json' || named === 'jsonl';
  const mayBeJson =
    format === undefined ? isNamedJson || /^[[{]/.test(start) : format === 'json' || format === 'jsonl';
  if (mayBeJson) {
    const content = withCompression(source, compression);
    const lines = { text: start, isWhole, encoding, signal };
    const json = await detectJson(content, { ...lines, hints });
    if (json !== null && 'reason' in json) return json;
    if (json !== null) {
      const areItems = json.format === 'jsonl' && (await holdsItems(content, lines));
      const options = { encoding, ...json.options };
      const detected = { format: json.format, compression, options, ...(areItems ? { areItems } : {}) };
      return { detected, isObject: json.isObject ?? false };
    }
    if (isNamedJson) return misnamed(/^[[{]/.test(start) ? 'text that only begins alike' : describe());
  }
  const csv = format === 'text' ? null : detectCsv(text, { isWhole, path, hints });
  if (csv !== null) {
    const detected = { format: csv.format, compression, options: { ...csv.options, encoding } };
    return { detected, isObject: false };
  }
  const isText = format === 'text' || named === 'text';
  const warnings = isText ? {} : { warnings: [READ_AS_TEXT] };
  return { detected: { format: 'text', compression, options: { encoding }, ...warnings }, isObject: false };
}

const READ_AS_TEXT =
  'The file is read as plain text, each line a row, because its content looks like none of the other formats. If it has another format, give it.';

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
