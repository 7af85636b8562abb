import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zipFolder } from '@svc/pkg-format/node';
import type { Cli } from '../cli-context.ts';
import { toFileError } from '../errors/file-error.ts';

/** A file that a command reads; disposing deletes a temporary copy. */
export interface InputFile extends AsyncDisposable {
  readonly path: string;
  /** The path that the user gave: `-` for standard input. */
  readonly shown: string;
}

/**
 * The file at a path. For `-` standard input, which is first written to a temporary file, because archives are read from
 * their end.
 *
 * @throws CliError `io_error`
 */
export async function openInputFile(cli: Pick<Cli, 'stdin' | 'signal'>, path: string): Promise<InputFile> {
  if (path !== '-') return { path, shown: path, [Symbol.asyncDispose]: async () => undefined };
  return await temporaryCopy(path, cli.stdin, cli.signal);
}

/**
 * The files of a folder as an archive, in a temporary file.
 *
 * @throws CliError `io_error`; PackageError `package_unsafe_entry` for a link
 */
export function openFolderAsArchive({ signal }: Pick<Cli, 'signal'>, folder: string): Promise<InputFile> {
  return temporaryCopy(folder, zipFolder(folder, signal), signal);
}

async function temporaryCopy(
  shown: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<InputFile> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-pkg-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const copy = join(folder, 'copy.zip');
  try {
    const file = await open(copy, 'wx', 0o600);
    try {
      for await (const chunk of chunks) {
        signal.throwIfAborted();
        await file.writeFile(chunk);
      }
    } finally {
      await file.close();
    }
    return { path: copy, shown, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw toFileError(error, 'write', copy);
  }
}
