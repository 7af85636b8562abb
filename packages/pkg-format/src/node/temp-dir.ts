import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSha256 } from '@svc/jsonl-v23/internal';
import { toHex } from '../hex.ts';
import { linesToBytes } from '../write/lines-to-bytes.ts';
import type { FileDigest } from '../write/scan-dataset.ts';

/** A temporary file. */
export interface TempFile extends FileDigest {
  read(): AsyncIterable<Uint8Array>;
}

/** A folder for content whose size and hash must be known before it can be written. Disposing deletes it. */
export interface TempDir extends AsyncDisposable {
  /** The path of a file in the folder. */
  path(name: string): string;
  writeLines(batches: AsyncIterable<readonly string[]>): Promise<TempFile>;
  writeBytes(bytes: Uint8Array, sha256: string): Promise<TempFile>;
}

/** Creates a hidden folder in `parentFolder`; that file system needs room for all the content. */
export async function createTempDir(parentFolder: string): Promise<TempDir> {
  const folder = await mkdtemp(join(parentFolder, '.pkg-temp-'));
  let count = 0;
  const newPath = (): string => {
    const path = join(folder, String(count));
    count += 1;
    return path;
  };
  const tempFile = (path: string, digest: FileDigest): TempFile => ({
    ...digest,
    read: () => createReadStream(path),
  });
  return {
    path: (name) => join(folder, name),
    async writeLines(batches) {
      const path = newPath();
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
      return tempFile(path, { bytes, sha256: toHex(hash.digest()) });
    },
    async writeBytes(bytes, sha256) {
      const path = newPath();
      await writeFile(path, bytes, { flag: 'wx' });
      return tempFile(path, { bytes: bytes.byteLength, sha256 });
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
