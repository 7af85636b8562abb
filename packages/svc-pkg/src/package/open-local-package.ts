import { openPackage, PackageError, type PackageReader } from '@svc/pkg-format';
import { openFileSource } from '@svc/pkg-format/node';
import type { Cli } from '../cli-context.ts';
import { toFileError } from '../errors/file-error.ts';
import { showProgress } from '../output/progress.ts';
import { openInputFile } from './input-file.ts';

/** A package in a file, with a progress bar. */
export interface LocalPackage extends AsyncDisposable {
  readonly pkg: PackageReader;
}

/**
 * Opens a package in a file; a terminal shows how much of it was read.
 *
 * @throws CliError `io_error`; PackageError, with the location of the file if it is about the whole archive
 */
export async function openLocalPackage(cli: Cli, path: string): Promise<LocalPackage> {
  const input = await openInputFile(cli, path);
  const source = await fromFile(path, () => openFileSource(input.path)).catch(async (error: unknown) => {
    await input[Symbol.asyncDispose]();
    throw error;
  });
  const progress = showProgress(cli, 'reading');
  let bytesRead = 0;
  const close = async (): Promise<void> => {
    progress[Symbol.dispose]();
    await source.close();
    await input[Symbol.asyncDispose]();
  };
  try {
    const pkg = await openPackage({
      byteLength: source.byteLength,
      async read(start, end) {
        const bytes = await fromFile(path, () => source.read(start, end));
        bytesRead += bytes.byteLength;
        progress.update(bytesRead, source.byteLength);
        return bytes;
      },
    });
    return {
      pkg,
      async [Symbol.asyncDispose]() {
        await pkg[Symbol.asyncDispose]();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw nameArchive(error, path);
  }
}

async function fromFile<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw toFileError(error, 'read', path);
  }
}

/** Adds the path of the archive to an error that is about the archive as a whole. */
export function nameArchive(error: unknown, path: string): unknown {
  if (!(error instanceof PackageError) || error.location.file !== undefined) return error;
  return new PackageError(error.code, error.message, {
    location: { ...error.location, file: path },
    cause: error,
  });
}
