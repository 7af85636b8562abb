import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Staging, UploadStage } from './stage-content.ts';

const CHUNK_BYTES = 64 * 1024;
const CHUNKS = 100;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stage-'));
});
afterAll(() => rm(folder, { recursive: true }));

function stagingIn(name: string): Staging {
  const path = join(folder, name);
  return {
    create: () => ({
      path,
      makeRoom: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => rm(path),
    }),
  };
}

const chunksOf = (): Buffer[] =>
  Array.from({ length: CHUNKS }, (_, index) => Buffer.alloc(CHUNK_BYTES, index + 1));

async function* from(chunks: readonly Buffer[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

it('frees the memory of chunks while the next ones arrive, and writes all of them', async () => {
  await using stage = new UploadStage(stagingIn('own'));
  const chunks = chunksOf();
  const { path, bytes } = await stage.add('a', from(chunks), { ownsChunks: true });
  const left = chunks.filter(({ buffer }) => !(buffer as ArrayBuffer).detached);
  // What waits for the disk is bounded.
  expect(left.length).toBeLessThan(CHUNKS / 2);
  expect(bytes).toBe(CHUNKS * CHUNK_BYTES);
  expect(Buffer.concat(chunksOf()).equals(await readFile(path as string))).toBe(true);
});

it('leaves chunks alone that are the caller’s, and those that share their memory', async () => {
  const chunks = chunksOf();
  await using stage = new UploadStage(stagingIn('views'));
  await stage.add('a', from(chunks));
  await using other = new UploadStage(stagingIn('parts'));
  const parts = chunks.map((chunk) => chunk.subarray(0, CHUNK_BYTES - 1));
  await other.add('a', from(parts), { ownsChunks: true });
  expect(chunks.every((chunk, index) => chunk.byteLength === CHUNK_BYTES && chunk[0] === index + 1)).toBe(
    true,
  );
});
