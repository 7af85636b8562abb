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
