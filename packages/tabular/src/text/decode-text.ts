import { shorten, TableError } from '../errors.ts';
import { invalidRow } from './raw-row.ts';

/** How a text file is written. */
export interface TextEncodingOptions {
  readonly file: string;
  /** Name of the encoding, as Python or the web call it; default UTF-8. */
  readonly encoding?: string | undefined;
  /** Whether invalid bytes are replaced by U+FFFD; otherwise they are an error. */
  readonly replaceErrors?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Names of Python that the web does not have. `latin1` of the web is another encoding, see below. */
const PYTHON_NAMES: Record<string, string> = {
  utf8: 'utf-8',
  'utf-8-sig': 'utf-8',
  u8: 'utf-8',
  cp65001: 'utf-8',
  'utf-16': 'utf-16le',
  utf16: 'utf-16le',
  cp1250: 'windows-1250',
  cp1251: 'windows-1251',
  cp1252: 'windows-1252',
  cp932: 'shift_jis',
  cp949: 'euc-kr',
  cp936: 'gbk',
};
// The web's iso-8859-1 is windows-1252; Python's is the first 256 code points.
const LATIN_1 = new Set(['latin-1', 'latin1', 'l1', 'iso-8859-1', 'iso8859-1', 'cp819', 'ascii', 'us-ascii']);

/**
 * Decodes a file as it arrives. A byte order mark at its start is left out.
 *
 * @throws TableError `invalid_row` with the line and column of invalid bytes; `unsupported_file` for an unknown encoding
 */
export async function* decodeText(
  source: AsyncIterable<Uint8Array>,
  options: TextEncodingOptions,
): AsyncGenerator<string, void, undefined> {
  const decode = createDecoder(options);
  let line = 1;
  /** Characters of that line so far. */
  let width = 0;
  let atStart = true;
  /** The first bytes of a character whose others are in the next chunk. */
  let begun: Uint8Array = new Uint8Array();
  const checked = (bytes: Uint8Array | null): string => {
    try {
      return decode(bytes);
    } catch (cause) {
      const replace = createDecoder({ ...options, replaceErrors: true });
      const readable = replace(begun) + replace(bytes ?? new Uint8Array());
      const before = readable.slice(0, Math.max(0, readable.indexOf('\uFFFD')));
      const location = {
        file: options.file,
        line: line + countNewlines(before),
        column: widthAfter(before, width) + 1,
      };
      throw invalidRow(`The line is not ${options.encoding ?? 'UTF-8'} text.`, location, cause);
    }
  };
  const trimmed = (text: string): string => {
    if (!atStart || text === '') return text;
    atStart = false;
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  };
  for await (const bytes of source) {
    options.signal?.throwIfAborted();
    const text = trimmed(checked(bytes));
    if (text !== '') yield text;
    line += countNewlines(text);
    width = widthAfter(text, width);
    if (isUtf8(options.encoding)) begun = openCharacter(begun, bytes);
  }
  const rest = trimmed(checked(null));
  if (rest !== '') yield rest;
}

/** Whether files of this encoding can be read as UTF-8 without decoding them first. */
export function isUtf8(encoding: string | undefined): boolean {
  return encoding === undefined || normalise(encoding) === 'utf-8';
}

/** A function from the file's next bytes to text; null ends the file. */
function createDecoder({
  encoding,
  replaceErrors = false,
}: TextEncodingOptions): (bytes: Uint8Array | null) => string {
  const name = encoding === undefined ? 'utf-8' : normalise(encoding);
  if (LATIN_1.has(name)) {
    return (bytes) => {
      let text = '';
      for (let at = 0; bytes !== null && at < bytes.length; at += 4096) {
        text += String.fromCharCode(...bytes.subarray(at, at + 4096));
      }
      return text;
    };
  }
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(name, { fatal: !replaceErrors, ignoreBOM: true });
  } catch (cause) {
    throw new TableError('unsupported_file', `Unknown encoding ${shorten(encoding ?? name)}.`, {
      cause,
    });
  }
  return (bytes) => (bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true }));
}

function normalise(encoding: string): string {
  const name = encoding.trim().toLowerCase().replaceAll('_', '-');
  return PYTHON_NAMES[name] ?? name;
}

/** A character of UTF-8 that valid bytes end within, without its last bytes; empty where they end with a whole one. */
function openCharacter(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  const end = Uint8Array.of(...before, ...bytes.subarray(-3)).subarray(-3);
  const lead = end.findLastIndex((byte) => byte >= 0xc0);
  const code = end[lead] ?? 0;
  const length = code >= 0xf0 ? 4 : code >= 0xe0 ? 3 : 2;
  return lead === -1 || length <= end.length - lead ? new Uint8Array() : end.slice(lead);
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Characters of the last line, of which there were some before the text. */
function widthAfter(text: string, before: number): number {
  const lineFeed = text.lastIndexOf('\n');
  return lineFeed === -1 ? before + text.length : text.length - lineFeed - 1;
}
