import { shorten, unreadableFile } from '../errors.ts';
import type { LoaderParams } from './raw-row.ts';

export interface TextEncodingOptions {
  readonly file: string;
  /** Name of the encoding, as Python or the web call it; default UTF-8. */
  readonly encoding?: string | undefined;
  /** Whether invalid bytes are replaced by U+FFFD; otherwise they are an error. */
  readonly replaceErrors?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export function encodingOf(params: LoaderParams): {
  readonly encoding: string | undefined;
  readonly replaceErrors: boolean;
} {
  const encoding = params['encoding'];
  return {
    encoding: typeof encoding === 'string' ? encoding : undefined,
    replaceErrors: 'encoding_errors' in params && params['encoding_errors'] !== 'strict',
  };
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

export function isUtf8(encoding: string | undefined): boolean {
  return encoding === undefined || normalise(encoding) === 'utf-8';
}

/** Null ends the file; invalid bytes throw TypeError. @throws TableError `unsupported_file` for an unknown encoding */
export function createDecoder({
  file,
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
    throw unreadableFile(
      'unsupported_file',
      file,
      `there is no encoding ${shorten(encoding ?? name)}`,
      cause,
    );
  }
  return (bytes) => (bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true }));
}

/** A text without the byte order marks that it may begin with: a tool may add one to a file that has one. */
export function withoutMark(text: string): string {
  return text.replace(/^\uFEFF+/, '');
}

function normalise(encoding: string): string {
  const name = encoding.trim().toLowerCase().replaceAll('_', '-');
  return PYTHON_NAMES[name] ?? name;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Up to this length, a loop takes less time than the decoder. */
const SHORT_BYTES = 24;

/** The text of a range of UTF-8. @throws TypeError if it is not UTF-8 */
export function utf8Text(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  if (end - start <= SHORT_BYTES) {
    let text = '';
    let at = start;
    for (; at < end && (bytes[at] as number) < 0x80; at += 1)
      text += String.fromCharCode(bytes[at] as number);
    if (at === end) return text;
  }
  return decoder.decode(bytes.subarray(start, end));
}
