import { PackageError, quote } from '../errors.ts';

/** An entry of an archive whose headers agree. */
export interface ZipEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  readonly method: 'stored' | 'deflated' | 'zstd';
  /** Bytes in the archive, from `dataStart` on. */
  readonly compressedSize: number;
  /** Bytes of the uncompressed content. */
  readonly size: number;
  /** CRC-32 of the uncompressed content. */
  readonly crc32: number;
  readonly headerStart: number;
  readonly dataStart: number;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes strict UTF-8; null if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

/** The bytes of a name that is not UTF-8, for a message. */
export function escapeBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('');
}

/** Drops a leading `./`. A name must mean the same to every reader, and stay in the folder it is unpacked in. */
export function safeEntryName(rawName: string): string {
  const problem = nameProblem(rawName);
  if (problem) {
    const message = `Entry name ${quote(rawName)} ${problem}.`;
    throw new PackageError('package_unsafe_entry', message, { entry: rawName });
  }
  return withoutDotSlash(rawName);
}

function withoutDotSlash(name: string): string {
  return name.replace(/^(?:\.\/)+/, '');
}

/** What is wrong with a path in the archive, or null. A trailing slash (a folder) is allowed. */
function nameProblem(rawName: string): string | null {
  if (rawName === '') return 'is empty';
  if (rawName.includes('\0')) return 'contains a NUL character';
  if (rawName.includes('\\')) return 'contains a backslash; folders are separated by "/"';
  if (rawName.startsWith('/')) return 'is an absolute path';
  if (/^[A-Za-z]:/.test(rawName)) return 'begins with a drive letter';
  const name = withoutDotSlash(rawName);
  for (const part of name.replace(/\/$/, '').split('/')) {
    if (part === '..') return 'leaves its folder with ".."';
    if (part === '.') return 'has a "." part';
    if (part === '' && name !== '') return 'has an empty part';
  }
  return null;
}

/** Whether a reference names a file inside `folder` ("assets/", "checkers/"). */
export function isPathInside(path: string, folder: string): boolean {
  return (
    path.startsWith(folder) &&
    path.length > folder.length &&
    !path.endsWith('/') &&
    nameProblem(path) === null
  );
}

/** Equal for names that a desktop file system takes for one. Upper, then lower case is close to full case folding. */
export function foldName(name: string): string {
  return normalForm(normalForm(name, 'NFC').toUpperCase().toLowerCase(), 'NFC').replace(/\/$/, '');
}

/** The time to normalise the marks of a character grows with the square of their number. */
const MANY_MARKS = /\p{M}{65}/u;

/** Leaves more than 64 combining marks in a row unchanged: to normalise 32,000 of them takes over a second. */
export function normalForm(name: string, form: 'NFC' | 'NFD'): string {
  return MANY_MARKS.test(name) ? name : name.normalize(form);
}
