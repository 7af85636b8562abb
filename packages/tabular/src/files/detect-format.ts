import { joinBytes } from '@svc/jsonl-v23/bytes';
import { TableError, unreadableFile } from '../errors.ts';
import { type ByteSource, withCompression } from '../source/byte-source.ts';
import { CachedFile } from '../text/cached-file.ts';
import { createDecoder, withoutMark } from '../text/encodings.ts';
import { detectCsv } from './detect-csv.ts';
import { detectJson, holdsItems } from './detect-json.ts';
import {
  checkHints,
  type DetectedFile,
  type DetectOptions,
  type FileCompression,
  type FileFormat,
  formatByName,
  titleOf,
} from './file-format.ts';
import { knownText, type NoTable, startsWith, unsupportedKind } from './known-kinds.ts';

const ACCEPTED =
  'Accepted are CSV, TSV, JSON Lines, JSON with an array of objects, Parquet and plain text, each also as .gz or .zst';

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

export function noTable(file: string, { reason, advice = '' }: NoTable): TableError {
  return unreadableFile('unsupported_file', file, `${reason}${advice}`);
}

/** As `detectFormat`, but a file without a table is a reason and no error. */
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
    const lines = { text: start, isWhole, encoding, hints, signal };
    const json = await detectJson(content, lines);
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

const hasControls = (text: string): boolean => /[\x00-\x08]/.test(text.slice(0, 4096));

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

/** Enough rows to tell how they are written. */
const HEAD_BYTES = 256 * 1024;

interface FileHead {
  readonly head: Uint8Array;
  readonly compression: FileCompression | undefined;
  readonly isWhole: boolean;
}

/** Reads the first bytes of a file, decompressed. @throws TableError `damaged_file` if no part of it can be */
async function readHead(source: ByteSource, signal?: AbortSignal): Promise<FileHead> {
  const stored = await source.readRange(0, Math.min(source.byteLength, HEAD_BYTES), signal);
  const compression = compressionBy(stored);
  if (compression === undefined)
    return { head: stored, compression, isWhole: stored.length === source.byteLength };
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of new CachedFile(withCompression(source, compression)).read(signal)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= HEAD_BYTES) {
        return { head: joinBytes(chunks).subarray(0, HEAD_BYTES), compression, isWhole: false };
      }
    }
  } catch (error) {
    // Reading the rows finds damage after the first bytes.
    const isDamaged = error instanceof TableError && error.code === 'damaged_file';
    if (length === 0 || !isDamaged) throw error;
    return { head: joinBytes(chunks), compression, isWhole: false };
  }
  return { head: joinBytes(chunks), compression, isWhole: true };
}

function compressionBy(head: Uint8Array): FileCompression | undefined {
  if (startsWith(head, '\x1f\x8b')) return 'gzip';
  return startsWith(head, '\x28\xb5\x2f\xfd') ? 'zstd' : undefined;
}
