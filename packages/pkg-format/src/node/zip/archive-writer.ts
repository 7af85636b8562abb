import { crc32 } from 'node:zlib';
import { dataDescriptor, directoryRecord, endRecords, localHeader } from './zip-records.ts';

/** Size and checksum of the bytes of an entry before compression. */
export class ByteSum {
  crc32 = 0;
  size = 0;

  /** Returns the bytes. */
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
  /** Bytes that were added. */
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

/**
 * Writes the records of an archive in one pass, in blocks that the caller takes when they are full; the bytes of an entry
 * are added between them. Holds one block, and the directory: 46 bytes and the name of each entry.
 */
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

  /** Adds a copy of a record. */
  add(record: Uint8Array): void {
    if (this.#usedBytes + record.byteLength > this.#last.byteLength) {
      this.#end();
      this.#last = Buffer.allocUnsafeSlow(Math.max(LIST_BYTES, record.byteLength));
    }
    this.#last.set(record, this.#usedBytes);
    this.#usedBytes += record.byteLength;
  }

  /** All records, in blocks. */
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
