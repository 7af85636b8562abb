import type { FileCompression } from '../format.ts';
import type { ByteSource } from './byte-source.ts';

/** The same file with a known compression, or without one, whatever its name says. */
export function withCompression(file: ByteSource, compression: FileCompression | undefined): ByteSource {
  return {
    path: file.path,
    byteLength: file.byteLength,
    compression: compression ?? 'none',
    maxContentBytes: file.maxContentBytes,
    readRange: (start, end, signal) => file.readRange(start, end, signal),
    stream: (signal, head) => file.stream(signal, head),
  };
}
