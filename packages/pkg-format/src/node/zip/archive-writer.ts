import { crc32 } from 'node:zlib';
import { ENTRY_MODE } from '../../write/write-package.ts';

/** Size and checksum of the bytes of an entry before compression. */
export class ByteSum {
  crc32 = 0;
  size = 0;

  add(chunk: Uint8Array): Uint8Array {
    this.crc32 = crc32(chunk, this.crc32);
    this.size += chunk.byteLength;
    return chunk;
  }
}

/** Size of an emitted block; larger chunks pass through. */
const BLOCK_BYTES = 128 * 1024;

/** Joins small parts of an archive into blocks, so that they do not take a write each. */
export class BlockBuffer {
  #parts: Uint8Array[] = [];
  #byteLength = 0;
  position = 0;

  get isFull(): boolean {
    return this.#byteLength >= BLOCK_BYTES;
  }

  /** Adds bytes, which must not change. */
  add(part: Uint8Array): void {
    this.#parts.push(part);
    this.#byteLength += part.byteLength;
    this.position += part.byteLength;
  }

  take(): Uint8Array {
    const [only] = this.#parts;
    const block = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#byteLength = 0;
    return block;
  }
}

/** Writes the records in one pass, in full blocks. Holds one block, and 46 bytes and the name of each entry. */
export class ArchiveWriter extends BlockBuffer {
  readonly #directory = new ByteList();
  #entryCount = 0;
  #entry = { name: Buffer.alloc(0), isDeflated: false, start: 0, dataStart: 0 };

  /** Begins an entry. Its bytes follow as the archive holds them. */
  begin(path: string, isDeflated: boolean): void {
    const [name, start] = [Buffer.from(path), this.position];
    this.add(localHeader(name, isDeflated));
    this.#entry = { name, isDeflated, start, dataStart: this.position };
  }

  endEntry({ crc32, size }: Pick<ByteSum, 'crc32' | 'size'>): void {
    const { dataStart, ...entry } = this.#entry;
    const written = { ...entry, crc32, size, compressedSize: this.position - dataStart };
    this.add(dataDescriptor(written));
    this.#directory.add(directoryRecord(written));
    this.#entryCount += 1;
  }

  /** The last blocks: the directory. */
  *end(): Generator<Uint8Array> {
    const directoryStart = this.position;
    for (const block of this.#directory.blocks()) {
      this.add(block);
      if (this.isFull) yield this.take();
    }
    this.add(endRecords(this.#entryCount, directoryStart, this.position));
    yield this.take();
  }
}

/** Size of a block of records. */
const LIST_BYTES = 64 * 1024;

/** Keeps many small records, without an object for each. */
class ByteList {
  readonly #blocks: Uint8Array[] = [];
  #last = Buffer.alloc(0);
  #usedBytes = 0;

  add(record: Uint8Array): void {
    if (this.#usedBytes + record.byteLength > this.#last.byteLength) {
      this.#end();
      this.#last = Buffer.allocUnsafeSlow(Math.max(LIST_BYTES, record.byteLength));
    }
    this.#last.set(record, this.#usedBytes);
    this.#usedBytes += record.byteLength;
  }

  blocks(): readonly Uint8Array[] {
    this.#end();
    return this.#blocks;
  }

  #end(): void {
    if (this.#usedBytes > 0) this.#blocks.push(this.#last.subarray(0, this.#usedBytes));
    this.#last = this.#last.subarray(this.#usedBytes);
    this.#usedBytes = 0;
  }
}

export interface WrittenEntry {
  /** UTF-8. */
  readonly name: Uint8Array;
  readonly isDeflated: boolean;
  readonly crc32: number;
  readonly size: number;
  readonly compressedSize: number;
  /** Offset of its local header. */
  readonly start: number;
}

/*
 * Records of a ZIP archive (APPNOTE.TXT 6.3.10) that is written in one pass: sizes and checksum of an entry follow its
 * bytes. Names are UTF-8; the time of every entry is 1 January 1980, in every time zone.
 */

/** Sizes and checksum follow the data (bit 3); the name is UTF-8 (bit 11). */
const FLAGS = 0x0808;
const VERSION = 20;
const VERSION_ZIP64 = 45;
/** Unix, version 6.3. */
const MADE_BY = (3 << 8) | 63;
const DOS_DATE = (1 << 5) | 1;
const DEFLATED = 8;
const MAX_UINT32 = 0xffffffff;
const MAX_UINT16 = 0xffff;

const needsZip64 = ({ size, compressedSize, start }: WrittenEntry): boolean =>
  size >= MAX_UINT32 || compressedSize >= MAX_UINT32 || start >= MAX_UINT32;

/** Section 4.3.7. */
function localHeader(name: Uint8Array, isDeflated: boolean): Buffer {
  const header = Buffer.alloc(30 + name.byteLength);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(FLAGS, 6);
  header.writeUInt16LE(isDeflated ? DEFLATED : 0, 8);
  header.writeUInt16LE(DOS_DATE, 12);
  header.writeUInt16LE(name.byteLength, 26);
  header.set(name, 30);
  return header;
}

/** Section 4.3.9. */
export function dataDescriptor(entry: WrittenEntry): Buffer {
  const { crc32, size, compressedSize } = entry;
  const isWide = needsZip64(entry);
  const descriptor = Buffer.alloc(isWide ? 24 : 16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(crc32, 4);
  if (isWide) {
    descriptor.writeBigUInt64LE(BigInt(compressedSize), 8);
    descriptor.writeBigUInt64LE(BigInt(size), 16);
  } else {
    descriptor.writeUInt32LE(compressedSize, 8);
    descriptor.writeUInt32LE(size, 12);
  }
  return descriptor;
}

/** Section 4.3.12. */
export function directoryRecord(entry: WrittenEntry): Buffer {
  const { name, isDeflated, crc32, size, compressedSize, start } = entry;
  const isWide = needsZip64(entry);
  const record = Buffer.alloc(46 + name.byteLength + (isWide ? 28 : 0));
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(MADE_BY, 4);
  record.writeUInt16LE(isWide ? VERSION_ZIP64 : VERSION, 6);
  record.writeUInt16LE(FLAGS, 8);
  record.writeUInt16LE(isDeflated ? DEFLATED : 0, 10);
  record.writeUInt16LE(DOS_DATE, 14);
  record.writeUInt32LE(crc32, 16);
  record.writeUInt32LE(isWide ? MAX_UINT32 : compressedSize, 20);
  record.writeUInt32LE(isWide ? MAX_UINT32 : size, 24);
  record.writeUInt16LE(name.byteLength, 28);
  record.writeUInt16LE(isWide ? 28 : 0, 30);
  record.writeUInt32LE((ENTRY_MODE << 16) >>> 0, 38);
  record.writeUInt32LE(isWide ? MAX_UINT32 : start, 42);
  record.set(name, 46);
  if (!isWide) return record;
  const extra = 46 + name.byteLength;
  record.writeUInt16LE(0x0001, extra);
  record.writeUInt16LE(24, extra + 2);
  record.writeBigUInt64LE(BigInt(size), extra + 4);
  record.writeBigUInt64LE(BigInt(compressedSize), extra + 12);
  record.writeBigUInt64LE(BigInt(start), extra + 20);
  return record;
}

/** Sections 4.3.14 to 4.3.16. @param end offset of the first byte after the directory */
export function endRecords(entryCount: number, directoryStart: number, end: number): Buffer {
  const byteLength = end - directoryStart;
  const isWide = entryCount >= MAX_UINT16 || byteLength >= MAX_UINT32 || directoryStart >= MAX_UINT32;
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x06054b50, 0);
  record.writeUInt16LE(Math.min(entryCount, MAX_UINT16), 8);
  record.writeUInt16LE(Math.min(entryCount, MAX_UINT16), 10);
  record.writeUInt32LE(Math.min(byteLength, MAX_UINT32), 12);
  record.writeUInt32LE(Math.min(directoryStart, MAX_UINT32), 16);
  if (!isWide) return record;

  const wide = Buffer.alloc(56);
  wide.writeUInt32LE(0x06064b50, 0);
  wide.writeBigUInt64LE(44n, 4);
  wide.writeUInt16LE(MADE_BY, 12);
  wide.writeUInt16LE(VERSION_ZIP64, 14);
  wide.writeBigUInt64LE(BigInt(entryCount), 24);
  wide.writeBigUInt64LE(BigInt(entryCount), 32);
  wide.writeBigUInt64LE(BigInt(byteLength), 40);
  wide.writeBigUInt64LE(BigInt(directoryStart), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(end), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([wide, locator, record]);
}
