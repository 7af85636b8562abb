import { expect, it } from 'vitest';
import { archiveSource } from './upload.ts';

const archive = Uint8Array.from({ length: 1000 }, (_, index) => index % 251);

function sourceOf(chunkBytes: number) {
  const asked: number[] = [];
  const source = archiveSource(
    {
      readArchiveChunk: async (_id, index) => {
        asked.push(index);
        const chunk = archive.subarray(index * chunkBytes, (index + 1) * chunkBytes);
        return chunk.byteLength === 0 ? null : chunk;
      },
    },
    { jobId: 'j', archiveBytes: archive.byteLength, chunkBytes },
  );
  return { source, asked };
}

it.each([1, 7, 100, 999, 1000, 4096])(
  'gives every range of an archive in chunks of %i bytes',
  async (size) => {
    const { source } = sourceOf(size);
    for (const [start, end] of [
      [0, 1000],
      [0, 1],
      [999, 1000],
      [6, 15],
      [100, 200],
      [500, 500],
      [990, 2000],
    ]) {
      const bytes = await source.read(start as number, end as number);
      expect(Buffer.from(bytes)).toEqual(Buffer.from(archive.subarray(start, end)));
    }
  },
);

it('asks once for a chunk that many small reads share, and holds only a few', async () => {
  const { source, asked } = sourceOf(100);
  for (let at = 0; at < 1000; at += 10) await source.read(at, at + 10);
  expect(asked).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await source.read(950, 960);
  expect(asked).toHaveLength(10);
  expect(source.readBytes).toBe(1000);
  await source.read(0, 10);
  expect(asked).toHaveLength(11);
  expect(source.readBytes).toBe(1000);
});

it('says that the archive of a job that has ended is gone', async () => {
  const source = archiveSource(
    { readArchiveChunk: async () => null },
    { jobId: 'j', archiveBytes: 10, chunkBytes: 5 },
  );
  await expect(source.read(0, 5)).rejects.toMatchObject({ code: 'job_finished' });
});
