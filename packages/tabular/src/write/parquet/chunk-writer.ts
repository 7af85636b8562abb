import { setImmediate as nextTurn } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { type ColumnChunk, encodePageHeader } from './metadata.ts';
import { PageBuffer } from './page-buffer.ts';
import type { Leaf } from './parquet-column.ts';

/** A page ends with the row that brings it to one of these. */
const PAGE_BYTES = 256 * 1024;
const PAGE_VALUES = 16 * 1024;
const CHECKSUM_BYTES = 1024 * 1024;

export class ChunkWriter {
  readonly #page: PageBuffer;
  #pages: Uint8Array[] = [];
  #valueCount = 0;
  #nullCount = 0;
  #endedBytes = 0;

  constructor(leaf: Leaf) {
    this.#page = new PageBuffer(leaf);
  }

  get uncompressedBytes(): number {
    return this.#endedBytes + this.#page.byteLength;
  }

  /** Gives a promise when a cell is long or completes a page. */
  append(json: string | null): Promise<void> | undefined {
    const writing = this.#page.append(json);
    if (writing !== undefined) return writing.then(() => this.#endFullPage());
    return this.#endFullPage();
  }

  /** Adds the entries of a row of a nested leaf, which `append` gives to the page. Gives a promise when they complete a page. */
  appendRow(append: (page: PageBuffer) => void): Promise<void> | undefined {
    append(this.#page);
    return this.#endFullPage();
  }

  /** The chunk with its pages, which begin at `offset`. Begins another chunk. */
  async end(offset: number): Promise<{ readonly chunk: ColumnChunk; readonly pages: readonly Uint8Array[] }> {
    if (this.#page.valueCount > 0) await this.#endPage();
    const pages = this.#pages;
    const chunk = {
      valueCount: this.#valueCount,
      nullCount: this.#nullCount,
      uncompressedBytes: this.#endedBytes,
      compressedBytes: pages.reduce((sum, { byteLength }) => sum + byteLength, 0),
      offset,
    };
    this.#pages = [];
    this.#valueCount = 0;
    this.#nullCount = 0;
    this.#endedBytes = 0;
    return { chunk, pages };
  }

  #endFullPage(): Promise<void> | undefined {
    const page = this.#page;
    return page.byteLength >= PAGE_BYTES || page.valueCount >= PAGE_VALUES ? this.#endPage() : undefined;
  }

  async #endPage(): Promise<void> {
    const page = this.#page;
    const bytes = page.take();
    const { valueCount, nullCount } = page;
    page.reset();
    const compressed = await compress(bytes);
    const header = encodePageHeader({
      valueCount,
      uncompressedBytes: bytes.byteLength,
      compressedBytes: compressed.byteLength,
      crc32: await checksum(compressed),
    });
    this.#valueCount += valueCount;
    this.#nullCount += nullCount;
    this.#endedBytes += header.byteLength + bytes.byteLength;
    this.#pages.push(header, compressed);
  }
}

/** CRC-32 of bytes; the event loop runs after each megabyte. */
async function checksum(bytes: Uint8Array): Promise<number> {
  let crc = 0;
  for (let at = 0; at < bytes.byteLength; at += CHECKSUM_BYTES) {
    if (at > 0) await nextTurn();
    crc = zlib.crc32(bytes.subarray(at, at + CHECKSUM_BYTES), crc);
  }
  return crc;
}

function compress(bytes: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    requireZstd()(bytes, (error, compressed) => (error === null ? resolve(compressed) : reject(error)));
  });
}

/** Node has zstd from 22.15 on. */
export function requireZstd(): typeof zlib.zstdCompress {
  const { zstdCompress }: Partial<typeof zlib> = zlib;
  if (zstdCompress !== undefined) return zstdCompress;
  throw new Error(
    `Cannot write Parquet: zstd needs Node 22.15 or newer, and this is ${process.versions.node}.`,
  );
}
