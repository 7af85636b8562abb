import { randomBytes } from 'node:crypto';
import { crc32, inflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { collectBytes } from '../../zip/byte-source.ts';
import { createPack } from './create-deflater.ts';

it('keeps files deflated, and reads those to their end that it cannot keep', async () => {
  const pack = createPack();
  const line = Buffer.from(`${'a line '.repeat(9_000)}\n`);
  const lines = Array.from({ length: 300 }, () => line);
  let read = 0;
  async function* each(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      read += 1;
      yield chunk;
    }
  }
  const kept = await pack(each(lines));
  expect(kept).toMatchObject({ bytes: 300 * line.byteLength, crc32: crc32(Buffer.concat(lines)) });
  for (const _ of ['once', 'and again']) {
    const bytes = kept && (await collectBytes(kept.read()));
    expect(bytes && inflateRawSync(bytes).equals(Buffer.concat(lines))).toBe(true);
  }
  for await (const piece of kept?.read() ?? []) expect(piece.buffer.byteLength).toBe(piece.byteLength);
  read = 0;
  const noise = Array.from({ length: 100 }, () => randomBytes(64 * 1024));
  expect(await pack(each(noise))).toBe(null);
  expect(read).toBe(100);
  // Files of this size are given out when they end: one of them is the first that has no room.
  const small = createPack();
  const outcomes: unknown[] = [];
  for (let file = 0; file < 500; file += 1) outcomes.push(await small(each([randomBytes(10_000)])));
  const tooMany = outcomes.indexOf(null);
  expect(tooMany).toBe(419);
  expect(outcomes.slice(tooMany)).toEqual(Array.from({ length: 81 }, () => null));
  await expect(
    createPack()(
      (async function* () {
        yield line;
        throw new Error('the database is gone');
      })(),
    ),
  ).rejects.toThrow('the database is gone');
});
