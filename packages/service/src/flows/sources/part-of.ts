import type { ByteSource as ArchiveBytes } from '@svc/pkg-format';

/** A part of a source. */
export function partOf(source: ArchiveBytes, start: number, byteLength: number): ArchiveBytes {
  return {
    byteLength,
    read: (from, to) => source.read(start + from, start + Math.min(to, byteLength)),
  };
}
