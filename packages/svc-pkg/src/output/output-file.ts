import { randomBytes } from 'node:crypto';
import { lstat, mkdir, mkdtemp, open, realpath, rename, rm, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { abortable } from '@svc/jsonl-v23/streams';
import { moveIntoPlace } from '@svc/pkg-format/node';
import { CliError, isSystemError, withFileErrors } from '../errors/cli-error.ts';

export type OutputFile = Awaited<ReturnType<typeof createOutputFile>>;

/** `output`, or `name` in it if it is a folder; a slash at its end makes one. Without `output`, `name` in `folder`. */
export async function outputPath(output: string | undefined, folder: string, name: string): Promise<string> {
  if (output === undefined) return join(folder, name);
  if (output.endsWith('/')) {
    await withFileErrors('write', output, () => mkdir(output, { recursive: true }));
    return join(output, name);
  }
  return (await isFolder(output)) ? join(output, name) : output;
}

export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/**
 * Opens a file that is written completely or not at all: a temporary one in the folder of `path`, which `commit` moves to
 * `path`. Disposing without a commit leaves nothing. Writes directly to a device or a named pipe.
 *
 * @param options.mode permissions of the file (default: those of the file that it replaces)
 */
export async function createOutputFile(
  path: string,
  options: { readonly force: boolean; readonly mode?: number },
) {
  const target = await targetOf(path, options.force);
  const temporary = target.isSpecialFile
    ? null
    : join(dirname(target.path), `.svc-pkg-${randomBytes(8).toString('hex')}.tmp`);
  // With its permissions from the beginning, so that no other user can read the content while it is written.
  const file = await withFileErrors('write', path, () =>
    open(temporary ?? target.path, temporary === null ? 'w' : 'wx', options.mode ?? target.mode),
  );
  let bytesWritten = 0;
  return {
    get bytesWritten() {
      return bytesWritten;
    },
    async write(chunk: Uint8Array) {
      await withFileErrors('write', path, () => file.writeFile(chunk));
      bytesWritten += chunk.byteLength;
    },
    async commit() {
      await withFileErrors('write', path, async () => {
        if (temporary !== null) await file.sync();
        await file.close();
        if (temporary === null) return;
        // Moving gives it the permissions of the file that it replaces.
        if (options.mode !== undefined && options.force) await rename(temporary, target.path);
        else await moveInto(temporary, target.path, path, options.force);
      });
    },
    async [Symbol.asyncDispose]() {
      await file.close().catch(() => undefined);
      // A commit has moved it away.
      if (temporary !== null) await unlink(temporary).catch(() => undefined);
    },
  };
}

/** For a function that creates its file itself: `path`, or the target of a symbolic link there, but no device. */
export async function replaceableFile(path: string, force: boolean): Promise<string> {
  const target = await targetOf(path, force);
  if (target.isSpecialFile)
    throw new CliError('io_error', 'Cannot write the file: it is a device or a pipe', {
      location: { file: path },
    });
  return target.path;
}

/** The file to replace with its permissions, symbolic links resolved; devices and pipes are never replaced. */
async function targetOf(
  path: string,
  force: boolean,
): Promise<{ readonly path: string; readonly isSpecialFile: boolean; readonly mode?: number }> {
  return withFileErrors('write', path, async () => {
    const found = await stat(path).catch((error: unknown) => {
      if (isSystemError(error) && error.code === 'ENOENT') return null;
      throw error;
    });
    if (found === null) {
      // A symbolic link to nothing.
      if (!force && (await lstat(path).catch(() => null)) !== null) throw outputExists(path);
      return { path, isSpecialFile: false };
    }
    if (found.isDirectory())
      throw new CliError('io_error', 'Cannot write the file: it is a folder', { location: { file: path } });
    if (!found.isFile()) return { path, isSpecialFile: true };
    if (!force) throw outputExists(path);
    return { path: await realpath(path), isSpecialFile: false, mode: found.mode & 0o777 };
  });
}

/** Gives a finished file its path, on the same file system; `displayed` is the path as the user gave it. */
export async function moveInto(
  temporary: string,
  target: string,
  displayed: string,
  force: boolean,
): Promise<void> {
  try {
    await moveIntoPlace(temporary, target, { replace: force });
  } catch (error) {
    throw isSystemError(error) && error.code === 'EEXIST' ? outputExists(displayed) : error;
  }
}

export function outputExists(path: string): CliError {
  return new CliError('output_exists', 'The file already exists; use --force to replace it', {
    location: { file: path },
  });
}

/** A folder that is deleted, with its files, when it is disposed of. */
export async function createTemporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'svc-pkg-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Writes a new file that no other user can read. @throws the signal's reason, also while standard input is silent */
export async function writeTemporaryFile(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  for await (const chunk of abortable(chunks, signal)) await file.writeFile(chunk);
}
