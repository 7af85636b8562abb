import { PackageError, quote } from '../errors.ts';
import { normalForm } from './normal-form.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes strict UTF-8; null where the bytes are something else. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

/** Bytes of an undecodable name as a message can show them. */
export function escapeBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('');
}

/**
 * Checks a name as it stands in the archive and gives it back without leading `./`, which some tools write.
 *
 * Throws `package_unsafe_entry` for what would mean different things to different readers, or a place outside the
 * folder it is unpacked in: absolute paths, drive letters, backslashes, NUL, and `..`, `.` or empty parts.
 */
export function safeEntryName(rawName: string): string {
  const fault = nameFault(rawName);
  if (fault) {
    throw new PackageError('package_unsafe_entry', `Entry name ${quote(rawName)} ${fault}`, {
      entry: rawName,
    });
  }
  return withoutDotSlash(rawName);
}

function withoutDotSlash(name: string): string {
  return name.replace(/^(?:\.\/)+/, '');
}

/** What is wrong with a path inside the archive, or null. A trailing slash (a folder) is allowed. */
function nameFault(rawName: string): string | null {
  if (rawName === '') return 'is empty';
  if (rawName.includes('\0')) return 'holds a NUL character';
  if (rawName.includes('\\')) return 'holds a backslash; folders are separated by "/"';
  if (rawName.startsWith('/')) return 'is an absolute path';
  if (/^[A-Za-z]:/.test(rawName)) return 'begins with a drive letter';
  const name = withoutDotSlash(rawName);
  for (const part of name.replace(/\/$/, '').split('/')) {
    if (part === '..') return 'leaves its folder by ".."';
    if (part === '.') return 'has a "." part';
    if (part === '' && name !== '') return 'has an empty part';
  }
  return null;
}

/** True for a reference that stays inside `folder` ("assets/", "checkers/") and names a file there. */
export function isPathInside(path: string, folder: string): boolean {
  return (
    path.startsWith(folder) && path.length > folder.length && !path.endsWith('/') && nameFault(path) === null
  );
}

/**
 * The key under which two names are one: equal after NFC and case folding, as file systems of desktop machines see
 * them. Upper then lower case comes close to full case folding (ß and SS, final sigma).
 */
export function foldName(name: string): string {
  return normalForm(normalForm(name, 'NFC').toUpperCase().toLowerCase(), 'NFC').replace(/\/$/, '');
}

/** Compares by UTF-8 bytes; JavaScript's own order is by UTF-16 units, which puts U+1F600 before U+FF5E. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates stand for code points above every other unit.
    const xHigh = x >= 0xd800 && x < 0xe000;
    const yHigh = y >= 0xd800 && y < 0xe000;
    return xHigh === yHigh ? x - y : xHigh ? 1 : -1;
  }
  return a.length - b.length;
}
