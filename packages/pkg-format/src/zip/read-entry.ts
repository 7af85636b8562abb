import { crc32, inflateRaw } from '#byte-tools';
import { entryError } from '../errors.ts';
import type { ByteBudget } from './byte-budget.ts';
import { type ByteSource, readRange } from './byte-source.ts';
import type { EntryCeiling } from './entry-ceiling.ts';
import type { ZipEntry } from './zip-entry.ts';

/** How an entry is read. */
export interface ReadEntryOptions {
  readonly ceiling: EntryCeiling;
  /** Counted down; null if the bytes are only checked, not handed out. */
  readonly budget: ByteBudget | null;
  readonly signal: AbortSignal | undefined;
}

/**
 * Reads the uncompressed bytes of an entry and checks them as they pass: no more of them than the ceiling and the budget
 * allow, and at the end the size and CRC-32 that the header states.
 *
 * @throws PackageError `package_limit`, `package_corrupt`; the signal's reason; errors of the source
 */
export async function* readEntry(
  source: ByteSource,
  entry: ZipEntry,
  { ceiling, budget, signal }: ReadEntryOptions,
): AsyncGenerator<Uint8Array> {
  const packed = readRange(source, entry.dataStart, entry.dataStart + entry.compressedSize, signal);
  let byteLength = 0;
  let crc = 0;
  for await (const chunk of entry.method === 'stored' ? packed : inflateRaw(packed, entry)) {
    signal?.throwIfAborted();
    if (chunk.byteLength === 0) continue;
    const room = ceiling.bytes - byteLength;
    // The lower of the two is the error, however the bytes are cut into chunks.
    if (chunk.byteLength > room && room <= (budget?.remainingBytes ?? Number.POSITIVE_INFINITY)) {
      throw ceiling.error();
    }
    budget?.spend(chunk.byteLength, entry.name);
    byteLength += chunk.byteLength;
    crc = crc32(chunk, crc);
    yield chunk;
  }
  signal?.throwIfAborted();
  if (byteLength < entry.size) {
    throw entryError(
      'package_corrupt',
      entry.name,
      `contains ${byteLength} bytes; its header states ${entry.size}`,
    );
  }
  if (crc !== entry.crc32)
    throw entryError('package_corrupt', entry.name, 'does not have the CRC-32 that its header states');
}
