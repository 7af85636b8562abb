import { open } from 'node:fs/promises';
import type { ByteSource } from '../zip/byte-source.ts';

/** An archive in a file, which is read by position. */
export interface FileSource extends ByteSource {
  /** Closes the file. */
  close(): Promise<void>;
}

/**
 * Opens a file for random access.
 *
 * @throws errors of the file system
 */
export async function openFileSource(path: string): Promise<FileSource> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    return {
      byteLength: size,
      async read(start, end) {
        const bytes = Buffer.allocUnsafe(end - start);
        let filled = 0;
        while (filled < bytes.byteLength) {
          const { bytesRead } = await file.read(bytes, filled, bytes.byteLength - filled, start + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return bytes.subarray(0, filled);
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}
