import type { FileCompression } from '../format.ts';
import { type ByteSource, deriveSource } from './byte-source.ts';

/** A file with a known compression, or without one, whatever its name says. */
export function withCompression(file: ByteSource, compression: FileCompression | undefined): ByteSource {
  return deriveSource(file, { compression: compression ?? 'none' });
}
