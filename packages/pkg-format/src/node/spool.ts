import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSha256 } from '@svc/jsonl-v23/internal';
import { toHex } from '../hex.ts';
import { linesToBytes } from '../write/lines-to-bytes.ts';
import type { FileDigest } from '../write/scan-dataset.ts';

/** A file that waits to be put into an archive. */
export interface SpooledFile extends FileDigest {
  read(): AsyncIterable<Uint8Array>;
}

/** A folder for what has to be known before it can be written. It is gone when the spool is disposed. */
export interface Spool extends AsyncDisposable {
  /** A path in the folder that nobody else uses. */
  path(name: string): string;
  writeLines(batches: AsyncIterable<readonly string[]>): Promise<SpooledFile>;
  writeBytes(bytes: Uint8Array, sha256: string): Promise<SpooledFile>;
}

/** Makes a spool in a folder, on whose file system there is to be room for everything. */
export async function createSpool(parentFolder: string): Promise<Spool> {
  const folder = await mkdtemp(join(parentFolder, '.pkg-spool-'));
  let count = 0;
  const spooled = (path: string, facts: FileDigest): SpooledFile => ({
    ...facts,
    read: () => createReadStream(path),
  });
  return {
    path: (name) => join(folder, name),
    async writeLines(batches) {
      const path = join(folder, String(count++));
      const hash = createSha256();
      let bytes = 0;
      const file = await open(path, 'wx');
      try {
        for await (const chunk of linesToBytes(batches)) {
          await file.writeFile(chunk);
          hash.update(chunk);
          bytes += chunk.byteLength;
        }
      } finally {
        await file.close();
      }
      return spooled(path, { bytes, sha256: toHex(hash.digest()) });
    },
    async writeBytes(bytes, sha256) {
      const path = join(folder, String(count++));
      await writeFile(path, bytes, { flag: 'wx' });
      return spooled(path, { bytes: bytes.byteLength, sha256 });
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
