import { crc32 } from '#byte-tools';
import { corruptArchive, entryError, PackageError, quote } from '../errors.ts';
import { MAX_DIRECTORY_BYTES, type PackageLimits } from '../limits.ts';
import { type ByteSource, decodeUtf8, type ViewBytes, windowedSource, type ZipEntry } from './byte-source.ts';

/**
 * Reads and checks the whole structure of a ZIP archive (APPNOTE 6.3.10): the end record, its zip64 form, the central
 * directory, and every local header and data descriptor.
 *
 * ZIP libraries accept archives that mean different things to two of them. An archive that passes here has one meaning:
 * every byte of the file belongs to exactly one entry, the directory or the archive comment, and every name is safe and
 * unique.
 *
 * @param allowsZstd whether zstd may compress entries, and names may differ in case alone: no package has either
 * @returns the entries in directory order
 */
export async function readDirectory(
  source: ByteSource,
  limits: PackageLimits,
  allowsZstd = false,
): Promise<ZipEntry[]> {
  const bounds = await findDirectory(source);
  if (bounds.entryCount > limits.maxEntries) {
    const message = `The archive must have at most ${limits.maxEntries} entries, got ${bounds.entryCount}.`;
    throw new PackageError('package_limit', message);
  }
  const directoryBytes = bounds.end - bounds.start;
  if (directoryBytes > MAX_DIRECTORY_BYTES) {
    const message = `The archive's directory must have at most ${MAX_DIRECTORY_BYTES} bytes, got ${directoryBytes}.`;
    throw new PackageError('package_limit', message);
  }
  const view = windowedSource(source);
  const records = await readCentralRecords(view, bounds, allowsZstd);
  refuseEqualNames(records, allowsZstd);
  const dataStarts = await checkLocalHeaders(view, records, bounds.start);
  return records.map((record, index) => {
    const { name, isDirectory, method, compressedSize, size, crc32, headerStart } = record;
    const dataStart = dataStarts[index] ?? 0;
    return { name, isDirectory, method, compressedSize, size, crc32, headerStart, dataStart };
  });
}

const END_RECORD = 0x06054b50;
const ZIP64_END_RECORD = 0x06064b50;
const ZIP64_LOCATOR = 0x07064b50;

/** By the end record (section 4.3.16) at the very end, followed only by the comment whose length it states. */
async function findDirectory(source: ByteSource): Promise<DirectoryBounds> {
  const tailLength = Math.min(source.byteLength, 22 + 0xffff);
  const tailStart = source.byteLength - tailLength;
  const tailBytes = await source.read(tailStart, source.byteLength);
  const tail = new DataView(tailBytes.buffer, tailBytes.byteOffset, tailBytes.byteLength);

  const candidates: number[] = [];
  let hasLooseSignature = false;
  for (let at = tail.byteLength - 22; at >= 0; at -= 1) {
    if (tail.getUint8(at) !== 0x50 || tail.getUint32(at, true) !== END_RECORD) continue;
    if (at + 22 + tail.getUint16(at + 20, true) === tail.byteLength) candidates.push(at);
    else hasLooseSignature = true;
  }
  if (candidates.length > 1) {
    throw corruptArchive('The archive has two end records, so its content is ambiguous.');
  }
  const [at] = candidates;
  if (at === undefined) {
    if (hasLooseSignature) {
      throw corruptArchive("Bytes follow the archive's end record, or its comment is truncated.");
    }
    const head = await source.read(0, Math.min(4, source.byteLength));
    if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4) {
      throw corruptArchive('The archive is truncated: the end record is missing.');
    }
    throw new PackageError('package_not_a_zip', 'The file is not a ZIP archive.');
  }
  return directoryBounds(source, tail, at, tailStart + at);
}

async function directoryBounds(
  source: ByteSource,
  tail: DataView,
  at: number,
  endRecordStart: number,
): Promise<DirectoryBounds> {
  const disk = tail.getUint16(at + 4, true);
  const directoryDisk = tail.getUint16(at + 6, true);
  const countHere = tail.getUint16(at + 8, true);
  const count = tail.getUint16(at + 10, true);
  const size = tail.getUint32(at + 12, true);
  const offset = tail.getUint32(at + 16, true);

  const zip64 = await readZip64End(source, endRecordStart);
  if (!zip64) {
    if (disk !== 0 || directoryDisk !== 0) throw splitArchive();
    if (countHere !== count) throw endRecordsDiffer();
    return directoryAt(offset, size, count, endRecordStart);
  }
  if (zip64.disk !== 0 || zip64.directoryDisk !== 0 || zip64.disks > 1) throw splitArchive();
  const agrees =
    (disk === 0xffff || disk === 0) &&
    (directoryDisk === 0xffff || directoryDisk === 0) &&
    (countHere === 0xffff || countHere === zip64.count) &&
    (count === 0xffff || count === zip64.count) &&
    (size === 0xffffffff || size === zip64.size) &&
    (offset === 0xffffffff || offset === zip64.offset);
  if (!agrees || zip64.countHere !== zip64.count) throw endRecordsDiffer();
  return directoryAt(zip64.offset, zip64.size, zip64.count, zip64.start);
}

function directoryAt(offset: number, size: number, entryCount: number, nextRecord: number): DirectoryBounds {
  if (offset + size > nextRecord) {
    throw corruptArchive("The archive's directory overlaps its end record, or the archive is truncated.");
  }
  if (offset + size < nextRecord) {
    throw corruptArchive(
      `${nextRecord - offset - size} bytes before the archive's content or after its directory belong to no entry.`,
    );
  }
  return { entryCount, start: offset, end: offset + size };
}

function endRecordsDiffer(): PackageError {
  return corruptArchive("The archive's end records contradict each other.");
}

interface Zip64End {
  readonly start: number;
  readonly disks: number;
  readonly disk: number;
  readonly directoryDisk: number;
  readonly countHere: number;
  readonly count: number;
  readonly size: number;
  readonly offset: number;
}

/** Sections 4.3.14 and 4.3.15; null for an archive without zip64 end records. */
async function readZip64End(source: ByteSource, endRecordStart: number): Promise<Zip64End | null> {
  if (endRecordStart < 20 + 56) return null;
  const locator = await readView(source, endRecordStart - 20, endRecordStart);
  if (locator.getUint32(0, true) !== ZIP64_LOCATOR) return null;
  const start = readUint64(locator, 8);
  if (start > endRecordStart - 20 - 56) throw endRecordsDiffer();
  const record = await readView(source, start, start + 56);
  // An extensible data sector may follow the fixed part; the record must end where the locator begins.
  if (
    record.getUint32(0, true) !== ZIP64_END_RECORD ||
    start + 12 + readUint64(record, 4) !== endRecordStart - 20
  ) {
    throw corruptArchive("The archive's zip64 end record is not where its locator points.");
  }
  return {
    start,
    disks: locator.getUint32(16, true),
    disk: record.getUint32(16, true),
    directoryDisk: record.getUint32(20, true),
    countHere: readUint64(record, 24),
    count: readUint64(record, 32),
    size: readUint64(record, 40),
    offset: readUint64(record, 48),
  };
}

async function readView(source: ByteSource, start: number, end: number): Promise<DataView> {
  const bytes = await source.read(start, end);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A record of the central directory, not yet checked against its local header. */
interface CentralRecord extends Omit<ZipEntry, 'dataStart'> {
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

interface DirectoryBounds {
  readonly entryCount: number;
  readonly start: number;
  readonly end: number;
}

/** Flags of both headers (section 4.4.4). */
const FLAG_ENCRYPTED = 1 << 0;
const FLAG_DESCRIPTOR = 1 << 3;
const FLAG_PATCH = 1 << 5;
const FLAG_STRONG_ENCRYPTION = 1 << 6;
const FLAG_UTF8 = 1 << 11;
const FLAG_MASKED_HEADER = 1 << 13;

/** Section 4.3.12: exactly as many records as the end record counts, in exactly the bytes that it states. */
async function readCentralRecords(
  view: ViewBytes,
  bounds: DirectoryBounds,
  allowsZstd: boolean,
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
    const fixed = await view(at, at + 46);
    if (fixed.getUint32(0, true) !== CENTRAL_HEADER) throw invalidRecord(records.length);
    const end = at + 46 + fixed.getUint16(28, true) + fixed.getUint16(30, true) + fixed.getUint16(32, true);
    if (end > bounds.end) throw invalidRecord(records.length);
    records.push(parseCentralRecord(await view(at, end), allowsZstd));
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

/** Refuses names that some file system takes for one. @param isCaseSensitive whether none becomes a file's name */
function refuseEqualNames(records: readonly CentralRecord[], isCaseSensitive: boolean): void {
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
function unicodePath(extra: DataView, rawName: Uint8Array): string | null {
  const [field] = extraFields(extra, EXTRA_UNICODE_PATH);
  if (!field || field.byteLength < 6 || field.getUint8(0) !== 1) return null;
  if (field.getUint32(1, true) !== crc32(rawName, 0)) return null;
  return decodeUtf8(new Uint8Array(field.buffer, field.byteOffset + 5, field.byteLength - 5));
}

/** The fields of a header that a zip64 field replaces. */
interface EntrySizes {
  readonly size: number;
  readonly compressedSize: number;
  readonly headerStart: number;
}

/** The zip64 field has the values whose 32 bits are all set, in this order (section 4.5.3). */
function withZip64Sizes(name: string, extra: DataView, sizes: EntrySizes): EntrySizes {
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

/** Refuses a field that is longer than the space for it. Up to three bytes after the last field are padding. */
function checkExtraFields(name: string, extra: DataView): void {
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

function corrupt(name: string, problem: string): PackageError {
  return entryError('package_corrupt', name, problem);
}

function splitArchive(): PackageError {
  return new PackageError('package_unsupported', 'The archive is one part of a split archive.');
}

/** An unsigned 64-bit number; one that a double cannot hold becomes the largest safe integer. */
function readUint64(view: DataView, at: number): number {
  const value = view.getBigUint64(at, true);
  // It is compared only with smaller numbers, so the replacement never passes for the true value.
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}

const LOCAL_HEADER = 0x04034b50;
const DATA_DESCRIPTOR = 0x08074b50;
/** Flags that change what a reader sees; the others (deflate level) may differ between the two headers. */
const AGREEING_FLAGS =
  FLAG_ENCRYPTED | FLAG_DESCRIPTOR | FLAG_STRONG_ENCRYPTION | FLAG_UTF8 | FLAG_MASKED_HEADER;

/** Section 4.3.7: each header follows the entry before it. Returns where the data of each entry starts. */
async function checkLocalHeaders(
  view: ViewBytes,
  records: readonly CentralRecord[],
  directoryStart: number,
): Promise<Float64Array> {
  const startOf = (index: number): number => records[index]?.headerStart ?? directoryStart;
  const order = Uint32Array.from(records.keys()).sort((a, b) => startOf(a) - startOf(b));
  const dataStarts = new Float64Array(records.length);
  for (const [position, index] of order.entries()) {
    const record = records[index] as CentralRecord;
    if (position === 0 && record.headerStart > 0) throw looseBytes(record.name, record.headerStart);
    const dataStart = await checkLocalHeader(view, record, directoryStart);
    dataStarts[index] = dataStart;
    const end = dataStart + record.compressedSize;
    const next = records[order[position + 1] ?? records.length];
    const nextStart = next?.headerStart ?? directoryStart;
    if (end > nextStart) {
      throw corrupt(record.name, `overlaps ${next === undefined ? 'the directory' : quote(next.name)}`);
    }
    await checkBytesBetween(view, record, end, nextStart);
  }
  if (records.length === 0 && directoryStart > 0) throw looseBytes('', directoryStart);
  return dataStarts;
}

async function checkLocalHeader(
  view: ViewBytes,
  record: CentralRecord,
  directoryStart: number,
): Promise<number> {
  const { name, headerStart } = record;
  if (headerStart + 30 > directoryStart)
    throw corrupt(name, 'has no local header: the archive is truncated or damaged');
  const fixed = await view(headerStart, headerStart + 30);
  if (fixed.getUint32(0, true) !== LOCAL_HEADER)
    throw corrupt(name, 'has no local header where the directory points');
  const nameLength = fixed.getUint16(26, true);
  const dataStart = headerStart + 30 + nameLength + fixed.getUint16(28, true);
  if (dataStart > directoryStart) throw corrupt(name, 'has a local header that overlaps the directory');

  const header = await view(headerStart, dataStart);
  const extra = new DataView(header.buffer, header.byteOffset + 30 + nameLength, header.getUint16(28, true));
  const rawName = new Uint8Array(header.buffer, header.byteOffset + 30, nameLength);
  if (!isName(rawName, record.storedName)) throw disagrees(name, 'name');
  const unicodeName = unicodePath(extra, rawName);
  if (unicodeName !== null && unicodeName !== (record.unicodeName ?? record.name))
    throw disagrees(name, 'name');
  if (((header.getUint16(6, true) ^ record.flags) & AGREEING_FLAGS) !== 0) throw disagrees(name, 'flags');
  if (header.getUint16(8, true) !== record.methodId) throw disagrees(name, 'compression method');

  const { size, compressedSize } = withZip64Sizes(name, extra, {
    size: header.getUint32(22, true),
    compressedSize: header.getUint32(18, true),
    headerStart: 0,
  });
  // With a data descriptor (flag bit 3) the three values may still be zero here.
  const mayBeZero = (record.flags & FLAG_DESCRIPTOR) !== 0;
  const agrees = (local: number, central: number) => local === central || (mayBeZero && local === 0);
  if (!agrees(header.getUint32(14, true), record.crc32)) throw disagrees(name, 'CRC-32');
  if (!agrees(compressedSize, record.compressedSize) || !agrees(size, record.size)) {
    throw disagrees(name, 'sizes');
  }
  return dataStart;
}

/** Section 4.3.9: only a data descriptor may follow an entry's data, and only if flag bit 3 announces it. */
async function checkBytesBetween(
  view: ViewBytes,
  record: CentralRecord,
  start: number,
  end: number,
): Promise<void> {
  const length = end - start;
  if ((record.flags & FLAG_DESCRIPTOR) === 0) {
    if (length > 0) throw looseBytes(record.name, length);
    return;
  }
  if (![12, 16, 20, 24].includes(length))
    throw corrupt(record.name, 'is not followed by its data descriptor');
  const descriptor = await view(start, end);
  const hasSignature = length % 8 === 0;
  const at = hasSignature ? 4 : 0;
  const wide = length >= 20;
  const agrees =
    (!hasSignature || descriptor.getUint32(0, true) === DATA_DESCRIPTOR) &&
    descriptor.getUint32(at, true) === record.crc32 &&
    (wide ? readUint64(descriptor, at + 4) : descriptor.getUint32(at + 4, true)) === record.compressedSize &&
    (wide ? readUint64(descriptor, at + 12) : descriptor.getUint32(at + 8, true)) === record.size;
  if (!agrees) throw corrupt(record.name, 'has a data descriptor that differs from the directory');
}

function isName(bytes: Uint8Array, name: CentralRecord['storedName']): boolean {
  // Strict UTF-8 writes a text in one way only.
  if (typeof name === 'string') return decodeUtf8(bytes) === name;
  return bytes.byteLength === name.byteLength && bytes.every((byte, index) => byte === name[index]);
}

function disagrees(name: string, what: string): PackageError {
  return corrupt(name, `has a local header that differs from the directory in its ${what}`);
}

function looseBytes(name: string, count: number): PackageError {
  const where = name === '' ? 'before the directory' : `around entry ${quote(name)}`;
  return new PackageError(
    'package_corrupt',
    `${count} bytes ${where} belong to no entry.`,
    name === '' ? {} : { entry: name },
  );
}

/** The bytes of a name that is not UTF-8, for a message. */
function escapeBytes(bytes: Uint8Array): string {
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
export function nameProblem(rawName: string): string | null {
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
