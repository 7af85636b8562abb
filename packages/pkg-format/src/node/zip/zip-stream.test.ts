import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type ZippedFile, zipFiles } from './zip-stream.ts';

it('closes the file that it reads when it is left early', async () => {
  const closed: string[] = [];
  async function* bytes() {
    try {
      for (;;) yield randomBytes(200_000);
    } finally {
      closed.push('bytes');
    }
  }
  async function* files(): AsyncGenerator<ZippedFile> {
    try {
      yield { name: 'a', bytes: bytes() };
    } finally {
      closed.push('files');
    }
  }
  for await (const _ of zipFiles(files())) break;
  expect(closed).toEqual(['bytes', 'files']);
});

it.each([1_000, 60_000])('deflates a small file of %i bytes in one piece, and well', async (byteLength) => {
  const text = Buffer.from(
    Array.from({ length: byteLength / 10 }, (_, row) => `${row},${row * row}\n`).join(''),
  );
  const small = text.subarray(0, byteLength);
  async function* files(): AsyncGenerator<ZippedFile> {
    yield {
      name: 'a',
      bytes: (async function* () {
        yield small;
      })(),
    };
  }
  const blocks: Uint8Array[] = [];
  for await (const block of zipFiles(files())) blocks.push(block);
  expect(Buffer.concat(blocks).includes(deflateRawSync(small, { level: 6 }))).toBe(true);
});
