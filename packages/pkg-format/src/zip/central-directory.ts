import { crc32 } from '#byte-tools';
import { corruptArchive, entryError, PackageError, quote } from '../errors.ts';
import type { WindowedSource } from './byte-source.ts';
import { decodeUtf8, escapeBytes, foldName, safeEntryName, type ZipEntry } from './entry-name.ts';

/** A record of the central directory, not yet checked against its local header. */
export interface CentralRecord extends Omit<ZipEntry, 'dataStart'> {
  /** The name as it is stored; its bytes if they are not UTF-8. */
  readonly storedName: string | Uint8Array;
  readonly unicodeName: string | null;
  readonly flags: number;
  readonly methodId: number;
}

const CENTRAL_HEADER = 0x02014b50;

/** Methods of compression (section 4.4.5). */
const DEFLATE = 8;
const ZSTD = 93;

/** Where the central directory is, and how many entries it has. */
export interface DirectoryBounds {
  readonly entryCount: number;
  readonly start: number;
  readonly end: number;
}

/** What an archive may have that a package may not. */
export interface DirectoryOptions {
  /** Whether zstd may compress entries, and names may differ in case alone. */
  readonly allowsZstd?: boolean;
}

/** Flags of both headers (section 4.4.4). */
export const FLAG_ENCRYPTED: number = 1 << 0;
export const FLAG_DESCRIPTOR: number = 1 << 3;
const FLAG_PATCH = 1 << 5;
export const FLAG_STRONG_ENCRYPTION: number = 1 << 6;
export const FLAG_UTF8: number = 1 << 11;
export const FLAG_MASKED_HEADER: number = 1 << 13;

/**
 * Reads the central directory (section 4.3.12): exactly as many records as the end record counts, in exactly the bytes
 * that it states.
 *
 * @throws PackageError `package_corrupt`, `package_unsafe_entry`, `package_unsupported`
 */
export async function readCentralRecords(
  window: WindowedSource,
  bounds: DirectoryBounds,
  { allowsZstd = false }: DirectoryOptions = {},
): Promise<CentralRecord[]> {
  const records: CentralRecord[] = [];
  let at = bounds.start;
  while (at < bounds.end) {
    if (records.length === bounds.entryCount) {
      throw corruptArchive(
        `The archive's directory has more than the ${bounds.entryCount} entries that its end record counts.`,
      );
    }
    if (at + 46 > bounds.end) throw invalidRecord(records.length);
    const fixed = await window.view(at, at + 46);
    if (fixed.getUint32(0, true) !== CENTRAL_HEADER) throw invalidRecord(records.length);
    const end = at + 46 + fixed.getUint16(28, true) + fixed.getUint16(30, true) + fixed.getUint16(32, true);
    if (end > bounds.end) throw invalidRecord(records.length);
    records.push(parseCentralRecord(await window.view(at, end), allowsZstd));
    at = end;
  }
  if (records.length < bounds.entryCount) {
    throw corruptArchive(
      `The archive's directory has ${records.length} entries; its end record counts ${bounds.entryCount}.`,
    );
  }
  return records;
}

function invalidRecord(index: number): PackageError {
  return corruptArchive(`Record ${index + 1} of the archive's directory is invalid.`);
}

function parseCentralRecord(record: DataView, allowsZstd: boolean): CentralRecord {
  const nameLength = record.getUint16(28, true);
  const rawName = new Uint8Array(record.buffer, record.byteOffset + 46, nameLength);
  const decoded = decodeUtf8(rawName);
  const extra = new DataView(record.buffer, record.byteOffset + 46 + nameLength, record.getUint16(30, true));
  const flags = record.getUint16(8, true);
  const unicodeName = unicodePath(extra, rawName);
  const name = safeEntryName(entryName(rawName, decoded, flags, unicodeName));
  checkExtraFields(name, extra);

  const methodId = record.getUint16(10, true);
  refuseUnsupported(name, flags, allowsZstd && methodId === ZSTD ? DEFLATE : methodId);
  const sizes = withZip64Sizes(name, extra, {
    size: record.getUint32(24, true),
    compressedSize: record.getUint32(20, true),
    headerStart: record.getUint32(42, true),
  });
  const disk = record.getUint16(34, true);
  if (disk !== 0 && disk !== 0xffff) throw splitArchive();

  const method = methodId === 0 ? 'stored' : methodId === ZSTD ? 'zstd' : 'deflated';
  if (method === 'stored' && sizes.size !== sizes.compressedSize) {
    throw corrupt(name, 'is stored uncompressed, but its two sizes differ');
  }
  const isDirectory = checkFileType(name, record.getUint32(38, true), sizes.size);
  return {
    name,
    isDirectory,
    method,
    ...sizes,
    crc32: record.getUint32(16, true),
    storedName: decoded ?? new Uint8Array(rawName),
    unicodeName,
    flags,
    methodId,
  };
}

/**
 * The name of an entry. With flag bit 11 it is UTF-8 (appendix D). Without it, it is the name in a valid Unicode Path
 * field (section 4.6.9), or else the bytes, which must be UTF-8 (as ASCII is): many tools write UTF-8 without the flag,
 * and a guessed code page would give a wrong name.
 */
function entryName(
  rawName: Uint8Array,
  decoded: string | null,
  flags: number,
  unicodeName: string | null,
): string {
  if ((flags & FLAG_UTF8) === 0 && unicodeName !== null) return unicodeName;
  if (decoded === null) {
    const displayed = escapeBytes(rawName);
    const message = `Entry name ${quote(displayed)} is not UTF-8.`;
    throw new PackageError('package_unsafe_entry', message, { entry: displayed });
  }
  if (unicodeName !== null && unicodeName !== decoded) {
    throw new PackageError(
      'package_unsafe_entry',
      `Entry ${quote(decoded)} has a second name, ${quote(unicodeName)}, in an extra field.`,
      { entry: decoded },
    );
  }
  return decoded;
}

function refuseUnsupported(name: string, flags: number, methodId: number): void {
  let problem: string | null = null;
  if (flags & (FLAG_ENCRYPTED | FLAG_STRONG_ENCRYPTION | FLAG_MASKED_HEADER)) problem = 'is encrypted';
  else if (flags & FLAG_PATCH) problem = 'contains patch data';
  else if (methodId !== 0 && methodId !== DEFLATE) {
    problem = `is compressed with method ${methodId}; only stored (0) and deflate (8) are supported`;
  }
  if (problem) throw entryError('package_unsupported', name, problem);
}

/** Whether an entry is a folder. Refuses links and devices by their Unix mode, the upper half of the attributes. */
function checkFileType(name: string, attributes: number, size: number): boolean {
  const type = (attributes >>> 28) & 0xf;
  if (type === 0xa) throw unsafe(name, 'is a symbolic link');
  if (type !== 0 && type !== 0x4 && type !== 0x8) throw unsafe(name, 'is not a regular file');
  const isDirectory =
    name === '' || name.endsWith('/') || ((type === 0x4 || (attributes & 0x10) !== 0) && size === 0);
  if ((isDirectory || type === 0x4) && size > 0) throw corrupt(name, 'is a folder but has content');
  return isDirectory;
}

/**
 * Refuses names that some file system takes for one name.
 *
 * @param isCaseSensitive whether no name becomes the name of a file
 * @throws PackageError `package_unsafe_entry`
 */
export function refuseEqualNames(records: readonly CentralRecord[], isCaseSensitive: boolean): void {
  const seen = new Map<string, string>();
  for (const { name } of records) {
    const key = isCaseSensitive ? name : foldName(name);
    const other = seen.get(key);
    if (other !== undefined) {
      throw unsafe(
        name,
        other === name ? 'is a duplicate' : `has the same name as ${quote(other)} on some systems`,
      );
    }
    seen.set(key, name);
  }
}

function unsafe(name: string, problem: string): PackageError {
  return entryError('package_unsafe_entry', name, problem);
}

const EXTRA_ZIP64 = 0x0001;
const EXTRA_UNICODE_PATH = 0x7075;

/** The name in a Unicode Path field (section 4.6.9); null if absent, of another version, or for another name. */
export function unicodePath(extra: DataView, rawName: Uint8Array): string | null {
  const [field] = extraFields(extra, EXTRA_UNICODE_PATH);
  if (!field || field.byteLength < 6 || field.getUint8(0) !== 1) return null;
  if (field.getUint32(1, true) !== crc32(rawName, 0)) return null;
  return decodeUtf8(new Uint8Array(field.buffer, field.byteOffset + 5, field.byteLength - 5));
}

/** The fields of a header that a zip64 field replaces. */
export interface EntrySizes {
  readonly size: number;
  readonly compressedSize: number;
  readonly headerStart: number;
}

/**
 * Replaces each size whose 32 bits are all set by its 64-bit value in the zip64 field, which has the values in this
 * order (section 4.5.3).
 *
 * @throws PackageError `package_corrupt`
 */
export function withZip64Sizes(name: string, extra: DataView, sizes: EntrySizes): EntrySizes {
  const [field, ...others] = extraFields(extra, EXTRA_ZIP64);
  if (others.length > 0) throw corrupt(name, 'has two zip64 fields');
  // Without the field the size really is 4 GiB less one byte.
  if (!field) return sizes;
  let at = 0;
  const wide = (value: number): number => {
    if (value !== 0xffffffff) return value;
    if (at + 8 > field.byteLength) throw corrupt(name, 'lacks a zip64 size that its header refers to');
    at += 8;
    return readUint64(field, at - 8);
  };
  const size = wide(sizes.size);
  const compressedSize = wide(sizes.compressedSize);
  return { size, compressedSize, headerStart: wide(sizes.headerStart) };
}

/**
 * Refuses a field that is longer than the space for it. Up to three bytes after the last field are padding.
 *
 * @throws PackageError `package_corrupt`
 */
export function checkExtraFields(name: string, extra: DataView): void {
  for (let at = 0; at + 4 <= extra.byteLength; at += 4 + extra.getUint16(at + 2, true)) {
    if (at + 4 + extra.getUint16(at + 2, true) > extra.byteLength) {
      throw corrupt(name, 'has an extra field that is longer than the space for it');
    }
  }
}

function extraFields(extra: DataView, id: number): DataView[] {
  const found: DataView[] = [];
  for (let at = 0; at + 4 <= extra.byteLength; ) {
    const length = extra.getUint16(at + 2, true);
    // Some tools pad with other bytes, which no field can follow.
    if (at + 4 + length > extra.byteLength) break;
    if (extra.getUint16(at, true) === id)
      found.push(new DataView(extra.buffer, extra.byteOffset + at + 4, length));
    at += 4 + length;
  }
  return found;
}

/** The error for an entry whose records contradict each other. */
export function corrupt(name: string, problem: string): PackageError {
  return entryError('package_corrupt', name, problem);
}

/** The error for one of several parts. */
export function splitArchive(): PackageError {
  return new PackageError('package_unsupported', 'The archive is one part of a split archive.');
}

/** An unsigned 64-bit number; one that a double cannot hold becomes the largest safe integer. */
export function readUint64(view: DataView, at: number): number {
  const value = view.getBigUint64(at, true);
  // It is compared only with smaller numbers, so the replacement never passes for the true value.
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}
