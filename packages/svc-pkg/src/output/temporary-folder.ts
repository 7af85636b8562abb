import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is deleted, with its files, when it is disposed of. */
export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

export async function createTemporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'svc-pkg-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Writes a new file that no other user can read. @throws the signal's reason */
export async function writeTemporaryFile(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    await file.writeFile(chunk);
  }
}
