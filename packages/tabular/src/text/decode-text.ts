import { countLineFeeds } from '@svc/jsonl-v23/internal';
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

/** What no character of any encoding exceeds. */
const MAX_CHARACTER_BYTES = 4;
const NO_BYTES = new Uint8Array();

/**
 * Decodes a file as it arrives. A byte order mark at its start is left out.
 *
 * @throws TableError `invalid_row` with the line and column of invalid bytes; `unsupported_file` for an unknown encoding
 */
export async function* decodeText(
  source: AsyncIterable<Uint8Array>,
  options: TextEncodingOptions,
): AsyncGenerator<string, void, undefined> {
  const decoder = new PieceDecoder(options);
  let line = 1;
  /** Characters of that line so far. */
  let width = 0;
  let atStart = true;
  const trimmed = (text: string): string => {
    if (!atStart || text === '') return text;
    atStart = false;
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  };
  const checked = (bytes: Uint8Array | null): string => {
    try {
      return trimmed(decoder.decode(bytes));
    } catch (cause) {
      const before = trimmed(decoder.validStart(bytes ?? NO_BYTES));
      const location = {
        file: options.file,
        line: line + countLineFeeds(before),
        column: widthAfter(before, width) + 1,
      };
      throw invalidRow(`The line is not ${options.encoding ?? 'UTF-8'} text.`, location, cause);
    }
  };
  for await (const bytes of source) {
    options.signal?.throwIfAborted();
    const text = checked(bytes);
    if (text !== '') yield text;
    line += countLineFeeds(text);
    width = widthAfter(text, width);
  }
  const rest = checked(null);
  if (rest !== '') yield rest;
}

/** Decodes a file piece by piece, and keeps the first bytes of a character whose others are in the next piece. */
class PieceDecoder {
  readonly #options: TextEncodingOptions;
  readonly #decode: (bytes: Uint8Array | null) => string;
  #begun: Uint8Array = NO_BYTES;

  constructor(options: TextEncodingOptions) {
    this.#options = options;
    this.#decode = createDecoder(options);
  }

  /** The text of the next bytes; null ends the file. @throws TypeError for invalid bytes */
  decode(bytes: Uint8Array | null): string {
    if (bytes === null) return this.#decode(null);
    let begun = this.#begun;
    let text = '';
    const decode = (part: Uint8Array): void => {
      const decoded = this.#decode(part);
      begun = decoded === '' ? Uint8Array.of(...begun, ...part) : NO_BYTES;
      text += decoded;
    };
    // One by one, the last bytes show where the last whole character ends.
    const split = Math.max(0, bytes.length - MAX_CHARACTER_BYTES);
    if (split > 0) decode(bytes.subarray(0, split));
    for (let at = split; at < bytes.length; at += 1) decode(bytes.subarray(at, at + 1));
    this.#begun = begun;
    return text;
  }

  /** The text of bytes for which `decode` throws, up to the first invalid one. */
  validStart(bytes: Uint8Array): string {
    let text = '';
    let [valid, invalid] = [0, bytes.length];
    while (invalid - valid > 1) {
      const middle = Math.floor((valid + invalid) / 2);
      const decode = createDecoder(this.#options);
      try {
        text = decode(this.#begun) + decode(bytes.subarray(0, middle));
        valid = middle;
      } catch {
        invalid = middle;
      }
    }
    return text;
  }
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

/** Length of the last line, including what came before this text. */
function widthAfter(text: string, before: number): number {
  const lineFeed = text.lastIndexOf('\n');
  return lineFeed === -1 ? before + text.length : text.length - lineFeed - 1;
}
