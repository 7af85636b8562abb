import { PackageError } from '../errors.ts';
import type { ByteSource } from './byte-source.ts';

/** Where the central directory is, and how many entries it has. */
export interface DirectoryBounds {
  readonly entryCount: number;
  readonly start: number;
  readonly end: number;
}

const END_RECORD = 0x06054b50;
const ZIP64_END_RECORD = 0x06064b50;
const ZIP64_LOCATOR = 0x07064b50;

/**
 * Finds the central directory by the end record (section 4.3.16), which is at the very end, followed only by the comment
 * whose length it states.
 *
 * @throws PackageError `package_not_a_zip`, `package_corrupt`, `package_unsupported`
 */
export async function findDirectory(source: ByteSource): Promise<DirectoryBounds> {
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
    throw new PackageError(
      'package_corrupt',
      'The archive has two end records, so its content is ambiguous.',
    );
  }
  const [at] = candidates;
  if (at === undefined) {
    if (hasLooseSignature) {
      throw new PackageError(
        'package_corrupt',
        "Bytes follow the archive's end record, or its comment is truncated.",
      );
    }
    const head = await source.read(0, Math.min(4, source.byteLength));
    if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4) {
      throw new PackageError('package_corrupt', 'The archive is truncated: the end record is missing.');
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
    throw new PackageError(
      'package_corrupt',
      "The archive's directory overlaps its end record, or the archive is truncated.",
    );
  }
  if (offset + size < nextRecord) {
    throw new PackageError(
      'package_corrupt',
      `${nextRecord - offset - size} bytes before the archive's content or after its directory belong to no entry.`,
    );
  }
  return { entryCount, start: offset, end: offset + size };
}

/** The error for one of several parts. */
export function splitArchive(): PackageError {
  return new PackageError('package_unsupported', 'The archive is one part of a split archive.');
}

function endRecordsDiffer(): PackageError {
  return new PackageError('package_corrupt', "The archive's end records contradict each other.");
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
    throw new PackageError(
      'package_corrupt',
      "The archive's zip64 end record is not where its locator points.",
    );
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

/** An unsigned 64-bit number; one that a double cannot hold becomes the largest safe integer. */
export function readUint64(view: DataView, at: number): number {
  const value = view.getBigUint64(at, true);
  // It is compared only with smaller numbers, so the replacement never passes for the true value.
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}
