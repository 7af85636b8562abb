import { entryError, type PackageError } from '../errors.ts';
import { type PackageLimits, RATIO_FREE_BYTES } from '../limits.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { ZipEntry } from './read-directory.ts';

export interface EntryCeiling {
  /** The entry may give this much; the next byte is an error. */
  bytes: number;
  error(): PackageError;
}

/**
 * The lowest of everything that bounds what an entry may give: its declared size, the expansion ratio, the caller's own
 * bound (an asset, a JSON document). The lowest counts, however the bytes are cut into chunks, so that every way of
 * reading fails alike.
 */
export function entryCeiling(
  entry: ZipEntry,
  limits: PackageLimits,
  maxBytes: number = Number.POSITIVE_INFINITY,
): EntryCeiling {
  const ratioBytes = Math.max(RATIO_FREE_BYTES, Math.floor(entry.compressedSize * limits.maxExpansionRatio));
  const bytes = Math.min(entry.size, ratioBytes, maxBytes);
  return {
    bytes,
    error: () => {
      if (bytes === entry.size)
        return entryError(
          'package_corrupt',
          entry.name,
          `holds more than the ${entry.size} bytes that its header states`,
        );
      return bytes === maxBytes
        ? entryError('package_limit', entry.name, `has over ${maxBytes} bytes`)
        : entryError('package_limit', entry.name, `expands over ${limits.maxExpansionRatio} times`);
    },
  };
}

/**
 * Passes an entry's bytes on while they are true: no more of them than its ceiling and the budget allow, and at the end
 * the size and CRC-32 that its header states.
 *
 * @param budget counted down; null where the bytes are only checked, not handed out
 * @throws PackageError `package_limit`, `package_corrupt`
 */
export async function* checkEntry(
  entry: ZipEntry,
  chunks: AsyncIterable<Uint8Array>,
  ceiling: EntryCeiling,
  budget: ByteBudget | null,
  crc32: (bytes: Uint8Array, value: number) => number,
): AsyncGenerator<Uint8Array> {
  let produced = 0;
  let crc = 0;
  for await (const chunk of chunks) {
    if (chunk.byteLength === 0) continue;
    const room = ceiling.bytes - produced;
    // The lower of the two is the error, however the bytes are cut into chunks.
    if (chunk.byteLength > room && room <= (budget?.leftBytes ?? Number.POSITIVE_INFINITY)) {
      throw ceiling.error();
    }
    budget?.spend(chunk.byteLength, entry.name);
    produced += chunk.byteLength;
    crc = crc32(chunk, crc);
    yield chunk;
  }
  if (produced < entry.size) {
    throw entryError(
      'package_corrupt',
      entry.name,
      `holds ${produced} bytes; its header states ${entry.size}`,
    );
  }
  if (crc !== entry.crc32)
    throw entryError('package_corrupt', entry.name, 'does not have the CRC-32 that its header states');
}
