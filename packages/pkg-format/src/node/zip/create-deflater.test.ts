import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MAX_WRITTEN_EXPANSION, UNPADDED_BYTES } from '../../limits.ts';
import { collectBytes } from '../../zip/byte-source.ts';
import { createDeflater } from './create-deflater.ts';

const KIB = 1024;

function deflate(content: Uint8Array, chunkBytes: number): Promise<Uint8Array> {
  function* chunks(): Generator<Uint8Array> {
    for (let at = 0; at < content.length; at += chunkBytes) yield content.subarray(at, at + chunkBytes);
  }
  return collectBytes(Readable.from(chunks(), { objectMode: false }).pipe(createDeflater()));
}

/** Text, a share of which is new. */
function text(bytes: number, newShare: number): Uint8Array {
  const content = Buffer.alloc(bytes, 'the same words again and again, ');
  for (let at = 0; at < bytes; at += KIB) randomBytes(Math.ceil(KIB * newShare)).copy(content, at);
  return content;
}

describe.each([
  ['nothing', new Uint8Array()],
  ['one byte', new Uint8Array(1)],
  ['zeros', new Uint8Array(5_000_000)],
  ['few zeros', new Uint8Array(40_000)],
  ['what repeats', text(3_000_000, 0)],
  ['what expands about as much as it may', text(3_000_000, 0.002)],
  ['what repeats less', text(3_000_000, 0.02)],
  ['random bytes', randomBytes(1_000_000)],
])('%s', (_, content) => {
  it('comes out again, and expands no more than a reader allows', async () => {
    const packed = await deflate(content, 64 * KIB);
    expect(Buffer.from(inflateRawSync(packed)).equals(content)).toBe(true);
    const maxBytes = Math.max(UNPADDED_BYTES, packed.length * MAX_WRITTEN_EXPANSION);
    expect(content.length).toBeLessThanOrEqual(maxBytes);
  });

  it('gives the same bytes in chunks of any size', async () => {
    const packed = await deflate(content, 64 * KIB);
    for (const chunkBytes of [777, 10_000, 1_000_000, 10_000_000]) {
      expect(Buffer.compare(await deflate(content, chunkBytes), packed), String(chunkBytes)).toBe(0);
    }
  });
});
