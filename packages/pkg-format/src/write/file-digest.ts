import { createSha256, toHex } from '@svc/jsonl-v23/internal';

/** Size and checksum of a file in a package. */
export interface FileDigest {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Measures bytes that pass by. */
export class DigestMeter {
  readonly #hash = createSha256();
  bytes = 0;

  /** Returns the bytes. */
  add(chunk: Uint8Array): Uint8Array {
    this.#hash.update(chunk);
    this.bytes += chunk.byteLength;
    return chunk;
  }

  /** The digest of all bytes. Call it once. */
  end(): FileDigest {
    return { bytes: this.bytes, sha256: toHex(this.#hash.digest()) };
  }
}

/** Reads bytes to their end. */
export async function digestOf(chunks: AsyncIterable<Uint8Array>): Promise<FileDigest> {
  const meter = new DigestMeter();
  for await (const chunk of chunks) meter.add(chunk);
  return meter.end();
}
