import { entryError, PackageError, quote } from '../errors.ts';
import { MAX_DIRECTORY_BYTES, type PackageLimits } from '../limits.ts';
import { type ByteSource, type WindowedSource, windowedSource } from './byte-source.ts';
import { crc32 } from './crc32.ts';
import { decodeUtf8, escapeBytes, foldName, safeEntryName } from './entry-name.ts';

/** One entry of an archive whose headers have been checked against each other. */
export interface ZipEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  readonly method: 'stored' | 'deflated';
  /** Bytes in the archive, from `dataStart` on. */
  readonly compressedSize: number;
  /** Bytes that must come out. */
  readonly size: number;
  /** CRC-32 of what must come out. */
  readonly crc32: number;
  readonly headerStart: number;
  readonly dataStart: number;
}

/** A record of the central directory, not yet checked against its local header. */
interface CentralRecord extends Omit<ZipEntry, 'dataStart'> {
  readonly rawName: Uint8Array;
  readonly unicodeName: string | null;
  readonly flags: number;
  readonly methodId: number;
}

interface DirectoryBounds {
  entryCount: number;
  start: number;
  end: number;
}

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const DATA_DESCRIPTOR = 0x08074b50;
const END_RECORD = 0x06054b50;
const ZIP64_END_RECORD = 0x06064b50;
const ZIP64_LOCATOR = 0x07064b50;

const FLAG_ENCRYPTED = 1 << 0;
const FLAG_DESCRIPTOR = 1 << 3;
const FLAG_PATCH = 1 << 5;
const FLAG_STRONG_ENCRYPTION = 1 << 6;
const FLAG_UTF8 = 1 << 11;
const FLAG_MASKED_HEADER = 1 << 13;
/** Flags that change what a reader sees; the others (deflate level) may differ between the two headers. */
const AGREEING_FLAGS =
  FLAG_ENCRYPTED | FLAG_DESCRIPTOR | FLAG_STRONG_ENCRYPTION | FLAG_UTF8 | FLAG_MASKED_HEADER;

const EXTRA_ZIP64 = 0x0001;
const EXTRA_UNICODE_PATH = 0x7075;

/**
 * Reads and checks the whole structure of a ZIP archive (APPNOTE 6.3.10): the end record, its zip64 form, the central
 * directory, and every local header and data descriptor against it.
 *
 * Zip libraries accept archives that two of them read differently. What passes here has one meaning: every byte of the
 * file belongs to exactly one entry, the directory or the archive comment, and every name is safe and unique.
 *
 * @returns the entries in directory order
 * @throws PackageError `package_not_a_zip`, `package_corrupt`, `package_unsafe_entry`, `package_unsupported`,
 *   `package_limit`
 */
export async function readDirectory(source: ByteSource, limits: PackageLimits): Promise<ZipEntry[]> {
  const bounds = await findDirectory(source);
  if (bounds.entryCount > limits.maxEntries) {
    throw new PackageError(
      'package_limit',
      `The archive has ${bounds.entryCount} entries; at most ${limits.maxEntries} are read`,
    );
  }
  if (bounds.end - bounds.start > MAX_DIRECTORY_BYTES) {
    throw new PackageError(
      'package_limit',
      `The archive's directory has ${bounds.end - bounds.start} bytes; at most ${MAX_DIRECTORY_BYTES} are read`,
    );
  }
  const window = windowedSource(source);
  const records = await readCentralRecords(window, bounds);
  refuseEqualNames(records);
  const dataStarts = await checkLocalHeaders(window, records, bounds.start);
  return records.map(({ name, isDirectory, method, compressedSize, size, crc32, headerStart }, index) => ({
    name,
    isDirectory,
    method,
    compressedSize,
    size,
    crc32,
    headerStart,
    dataStart: dataStarts[index]!,
  }));
}

/** Section 4.3.16: the end record lies at the very end, followed by nothing but the comment that it measures. */
async function findDirectory(source: ByteSource): Promise<DirectoryBounds> {
  const tailLength = Math.min(source.byteLength, 22 + 0xffff);
  const tailStart = source.byteLength - tailLength;
  const tailBytes = await source.read(tailStart, source.byteLength);
  const tail = new DataView(tailBytes.buffer, tailBytes.byteOffset, tailBytes.byteLength);

  const candidates: number[] = [];
  let hasLooseSignature = false;
  for (let at = tail.byteLength - 22; at >= 0; at--) {
    if (tail.getUint8(at) !== 0x50 || tail.getUint32(at, true) !== END_RECORD) continue;
    if (at + 22 + tail.getUint16(at + 20, true) === tail.byteLength) candidates.push(at);
    else hasLooseSignature = true;
  }
  if (candidates.length > 1) {
    throw new PackageError('package_corrupt', 'The archive has two end records, so its content is ambiguous');
  }
  const [at] = candidates;
  if (at === undefined) {
    if (hasLooseSignature) {
      throw new PackageError(
        'package_corrupt',
        "There are bytes after the archive's end record, or its comment is cut off",
      );
    }
    const head = await source.read(0, Math.min(4, source.byteLength));
    if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4) {
      throw new PackageError('package_corrupt', 'The archive is cut off: its end record is missing');
    }
    throw new PackageError('package_not_a_zip', 'The file is not a ZIP archive');
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
    if (countHere !== count) throw countDiffers();
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
  if (!agrees || zip64.countHere !== zip64.count) throw countDiffers();
  return directoryAt(zip64.offset, zip64.size, zip64.count, zip64.start);
}

function directoryAt(offset: number, size: number, entryCount: number, nextRecord: number): DirectoryBounds {
  if (offset + size > nextRecord) {
    throw new PackageError(
      'package_corrupt',
      "The archive's directory overlaps its end record, or the archive is cut off",
    );
  }
  if (offset + size < nextRecord) {
    throw new PackageError(
      'package_corrupt',
      `${nextRecord - offset - size} bytes before the archive's content, or after its directory, belong to no entry`,
    );
  }
  return { entryCount, start: offset, end: offset + size };
}

function splitArchive(): PackageError {
  return new PackageError('package_unsupported', 'The archive is one part of a split archive');
}

function countDiffers(): PackageError {
  return new PackageError('package_corrupt', "The archive's end records contradict each other");
}

/** Sections 4.3.14 and 4.3.15; null for an archive without zip64 end records. */
async function readZip64End(source: ByteSource, endRecordStart: number) {
  if (endRecordStart < 20 + 56) return null;
  const locator = await readView(source, endRecordStart - 20, endRecordStart);
  if (locator.getUint32(0, true) !== ZIP64_LOCATOR) return null;
  const start = readUint64(locator, 8);
  if (start > endRecordStart - 20 - 56) throw countDiffers();
  const record = await readView(source, start, start + 56);
  // An extensible data sector may follow the fixed part; the record has to end where the locator begins.
  if (
    record.getUint32(0, true) !== ZIP64_END_RECORD ||
    start + 12 + readUint64(record, 4) !== endRecordStart - 20
  ) {
    throw new PackageError('package_corrupt', "The archive's zip64 end record is not where its locator says");
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

/** Section 4.3.12: exactly as many records as the end record counts, filling exactly the bytes that it measures. */
async function readCentralRecords(window: WindowedSource, bounds: DirectoryBounds): Promise<CentralRecord[]> {
  const records: CentralRecord[] = [];
  let at = bounds.start;
  while (at < bounds.end) {
    if (records.length === bounds.entryCount) {
      throw new PackageError(
        'package_corrupt',
        `The archive's directory holds more than the ${bounds.entryCount} entries that its end record counts`,
      );
    }
    if (at + 46 > bounds.end) throw brokenRecord(records.length);
    const fixed = await window.view(at, at + 46);
    if (fixed.getUint32(0, true) !== CENTRAL_HEADER) throw brokenRecord(records.length);
    const end = at + 46 + fixed.getUint16(28, true) + fixed.getUint16(30, true) + fixed.getUint16(32, true);
    if (end > bounds.end) throw brokenRecord(records.length);
    records.push(parseCentralRecord(await window.view(at, end)));
    at = end;
  }
  if (records.length < bounds.entryCount) {
    throw new PackageError(
      'package_corrupt',
      `The archive's directory holds ${records.length} entries; its end record counts ${bounds.entryCount}`,
    );
  }
  return records;
}

function brokenRecord(index: number): PackageError {
  return new PackageError('package_corrupt', `Record ${index + 1} of the archive's directory is broken`);
}

function parseCentralRecord(record: DataView): CentralRecord {
  const nameLength = record.getUint16(28, true);
  const rawName = copyBytes(record, 46, nameLength);
  const extra = new DataView(record.buffer, record.byteOffset + 46 + nameLength, record.getUint16(30, true));
  const flags = record.getUint16(8, true);
  const unicodeName = unicodePath(extra, rawName);
  const storedName = entryName(rawName, flags, unicodeName);
  const name = safeEntryName(storedName);

  const methodId = record.getUint16(10, true);
  refuseUnsupported(name, flags, methodId);
  const sizes = {
    size: record.getUint32(24, true),
    compressedSize: record.getUint32(20, true),
    headerStart: record.getUint32(42, true),
  };
  readZip64Fields(name, extra, sizes);
  const disk = record.getUint16(34, true);
  if (disk !== 0 && disk !== 0xffff) throw splitArchive();

  const method = methodId === 0 ? 'stored' : 'deflated';
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
    rawName,
    unicodeName,
    flags,
    methodId,
  };
}

function copyBytes(view: DataView, start: number, length: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + start, length).slice();
}

/**
 * The name of an entry. With flag bit 11 it is UTF-8 (appendix D). Without it, Info-ZIP's Unicode Path field (4.6.9)
 * counts where it is valid, and else the bytes, which must be UTF-8 (ASCII is): many tools write UTF-8 and do not say
 * so, and a guessed code page would give a wrong name.
 */
function entryName(rawName: Uint8Array, flags: number, unicodeName: string | null): string {
  const decoded = decodeUtf8(rawName);
  if ((flags & FLAG_UTF8) === 0 && unicodeName !== null) return unicodeName;
  if (decoded === null) {
    const shown = escapeBytes(rawName);
    throw new PackageError('package_unsafe_entry', `Entry name ${quote(shown)} is not UTF-8`, {
      entry: shown,
    });
  }
  if (unicodeName !== null && unicodeName !== decoded) {
    throw new PackageError(
      'package_unsafe_entry',
      `Entry ${quote(decoded)} has a second name, ${quote(unicodeName)}, in an extra field`,
      { entry: decoded },
    );
  }
  return decoded;
}

/** Section 4.6.9; null where the field is absent, of another version, or made for another name. */
function unicodePath(extra: DataView, rawName: Uint8Array): string | null {
  const [field] = extraFields(extra, EXTRA_UNICODE_PATH);
  if (!field || field.byteLength < 6 || field.getUint8(0) !== 1) return null;
  if (field.getUint32(1, true) !== crc32(rawName, 0)) return null;
  return decodeUtf8(new Uint8Array(field.buffer, field.byteOffset + 5, field.byteLength - 5));
}

function refuseUnsupported(name: string, flags: number, methodId: number): void {
  let fault: string | null = null;
  if (flags & (FLAG_ENCRYPTED | FLAG_STRONG_ENCRYPTION | FLAG_MASKED_HEADER)) fault = 'is encrypted';
  else if (flags & FLAG_PATCH) fault = 'holds patch data';
  else if (methodId !== 0 && methodId !== 8) {
    fault = `is compressed with method ${methodId}; only stored (0) and deflate (8) are read`;
  }
  if (fault) throw entryError('package_unsupported', name, fault);
}

interface EntrySizes {
  size: number;
  compressedSize: number;
  headerStart?: number;
}

/** Section 4.5.3: the 64-bit values stand, in this order, for those fields whose 32 bits are all set. */
function readZip64Fields(name: string, extra: DataView, sizes: EntrySizes): void {
  const fields = extraFields(extra, EXTRA_ZIP64);
  if (fields.length > 1) throw corrupt(name, 'states its zip64 sizes twice');
  const [field] = fields;
  let at = 0;
  for (const key of ['size', 'compressedSize', 'headerStart'] as const) {
    if (sizes[key] !== 0xffffffff) continue;
    // Without the field it really is 4 GiB less one byte.
    if (!field) continue;
    if (at + 8 > field.byteLength) throw corrupt(name, 'lacks a zip64 size that its header refers to');
    sizes[key] = readUint64(field, at);
    at += 8;
  }
}

function extraFields(extra: DataView, id: number): DataView[] {
  const found: DataView[] = [];
  for (let at = 0; at + 4 <= extra.byteLength; ) {
    const length = extra.getUint16(at + 2, true);
    // Some tools pad with bytes that are no field; nothing after them can be one.
    if (at + 4 + length > extra.byteLength) break;
    if (extra.getUint16(at, true) === id)
      found.push(new DataView(extra.buffer, extra.byteOffset + at + 4, length));
    at += 4 + length;
  }
  return found;
}

function readUint64(view: DataView, at: number): number {
  const value = view.getBigUint64(at, true);
  // Everything it is compared with is smaller, so a rounded value cannot pass for a true one.
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}

/** Refuses links and devices by their Unix mode (upper half of the attributes); says whether the entry is a folder. */
function checkFileType(name: string, attributes: number, size: number): boolean {
  const type = (attributes >>> 28) & 0xf;
  if (type === 0xa) throw unsafe(name, 'is a symbolic link');
  if (type !== 0 && type !== 0x4 && type !== 0x8) throw unsafe(name, 'is not an ordinary file');
  const isDirectory =
    name === '' || name.endsWith('/') || ((type === 0x4 || (attributes & 0x10) !== 0) && size === 0);
  if ((isDirectory || type === 0x4) && size > 0) throw corrupt(name, 'is a folder, but has content');
  return isDirectory;
}

function refuseEqualNames(records: readonly CentralRecord[]): void {
  const seen = new Map<string, string>();
  for (const { name } of records) {
    const key = foldName(name);
    const other = seen.get(key);
    if (other !== undefined) {
      const what =
        other === name
          ? 'stands twice in the archive'
          : `has the same name as ${quote(other)} on some systems`;
      throw unsafe(name, what);
    }
    seen.set(key, name);
  }
}

/**
 * Section 4.3.7: walks the file from its first byte to the directory. Each local header has to stand where the entry
 * before it ended, and to say what the directory says. Returns where each entry's data starts.
 */
async function checkLocalHeaders(
  window: WindowedSource,
  records: readonly CentralRecord[],
  directoryStart: number,
): Promise<number[]> {
  const order = records
    .map((_, index) => index)
    .sort((a, b) => records[a]!.headerStart - records[b]!.headerStart);
  const dataStarts = new Array<number>(records.length);
  let end = 0;
  for (const [position, index] of order.entries()) {
    const record = records[index]!;
    if (position === 0 && record.headerStart > 0) throw looseBytes(record.name, record.headerStart);
    const dataStart = await checkLocalHeader(window, record, directoryStart);
    dataStarts[index] = dataStart;
    end = dataStart + record.compressedSize;
    const nextIndex = order[position + 1];
    const nextStart = nextIndex === undefined ? directoryStart : records[nextIndex]!.headerStart;
    if (end > nextStart) {
      const next = nextIndex === undefined ? 'the directory' : quote(records[nextIndex]!.name);
      throw corrupt(record.name, `overlaps ${next}`);
    }
    await checkBytesBetween(window, record, end, nextStart);
  }
  if (records.length === 0 && directoryStart > 0) throw looseBytes('', directoryStart);
  return dataStarts;
}

async function checkLocalHeader(
  window: WindowedSource,
  record: CentralRecord,
  directoryStart: number,
): Promise<number> {
  const { name, headerStart } = record;
  if (headerStart + 30 > directoryStart)
    throw corrupt(name, 'has no local header: the archive is cut off or damaged');
  const fixed = await window.view(headerStart, headerStart + 30);
  if (fixed.getUint32(0, true) !== LOCAL_HEADER)
    throw corrupt(name, 'has no local header where the directory says');
  const nameLength = fixed.getUint16(26, true);
  const dataStart = headerStart + 30 + nameLength + fixed.getUint16(28, true);
  if (dataStart > directoryStart) throw corrupt(name, 'has a local header that overlaps the directory');

  const header = await window.view(headerStart, dataStart);
  const extra = new DataView(header.buffer, header.byteOffset + 30 + nameLength, header.getUint16(28, true));
  const rawName = new Uint8Array(header.buffer, header.byteOffset + 30, nameLength);
  if (!sameBytes(rawName, record.rawName)) throw disagrees(name, 'name');
  const unicodeName = unicodePath(extra, rawName);
  if (unicodeName !== null && unicodeName !== (record.unicodeName ?? record.name))
    throw disagrees(name, 'name');
  if (((header.getUint16(6, true) ^ record.flags) & AGREEING_FLAGS) !== 0) throw disagrees(name, 'flags');
  if (header.getUint16(8, true) !== record.methodId) throw disagrees(name, 'compression method');

  const sizes = { size: header.getUint32(22, true), compressedSize: header.getUint32(18, true) };
  readZip64Fields(name, extra, sizes);
  // With a data descriptor (flag bit 3) the three values may still be zero here.
  const mayBeZero = (record.flags & FLAG_DESCRIPTOR) !== 0;
  const agrees = (local: number, central: number) => local === central || (mayBeZero && local === 0);
  if (!agrees(header.getUint32(14, true), record.crc32)) throw disagrees(name, 'CRC-32');
  if (!agrees(sizes.compressedSize, record.compressedSize) || !agrees(sizes.size, record.size)) {
    throw disagrees(name, 'sizes');
  }
  return dataStart;
}

/** Section 4.3.9: nothing but a data descriptor may follow an entry's data, and only where flag bit 3 announces it. */
async function checkBytesBetween(
  window: WindowedSource,
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
  const descriptor = await window.view(start, end);
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

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, index) => byte === b[index]);
}

function corrupt(name: string, fault: string): PackageError {
  return entryError('package_corrupt', name, fault);
}

function unsafe(name: string, fault: string): PackageError {
  return entryError('package_unsafe_entry', name, fault);
}

function disagrees(name: string, what: string): PackageError {
  return corrupt(name, `has another ${what} in its local header than in the directory`);
}

function looseBytes(name: string, count: number): PackageError {
  const where = name === '' ? 'before the directory' : `around entry ${quote(name)}`;
  return new PackageError(
    'package_corrupt',
    `${count} bytes ${where} belong to no entry`,
    name === '' ? {} : { entry: name },
  );
}
