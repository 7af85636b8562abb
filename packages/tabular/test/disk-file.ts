import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ByteSource, tableSource } from '../src/source/byte-source.ts';

/** A file on disk, whose bytes come as the `Buffer`s that Node reads. */
export async function diskFile(bytes: Uint8Array, path = 'data.parquet'): Promise<ByteSource> {
  const folder = await mkdtemp(join(tmpdir(), 'tabular-'));
  const name = join(folder, 'file');
  await writeFile(name, bytes);
  const file = await open(name);
  onTestFinished(async () => {
    await file.close();
    await rm(folder, { recursive: true });
  });
  return tableSource(path, {
    byteLength: bytes.byteLength,
    async read(start, end) {
      const buffer = Buffer.allocUnsafeSlow(end - start);
      await file.read(buffer, 0, end - start, start);
      return buffer;
    },
  });
}
