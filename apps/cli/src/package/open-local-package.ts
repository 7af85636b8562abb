import { openPackage, type PackageReader } from '@svc/pkg-format';
import { openFileSource } from '@svc/pkg-format/node';
import type { Cli } from '../cli-context.ts';
import { toFileError } from '../errors/file-error.ts';
import { showProgress } from '../output/progress.ts';
import { nameArchive } from './name-archive.ts';

/** A package in a file, and the bar that follows how much of the file has been read. */
export interface LocalPackage extends AsyncDisposable {
  readonly pkg: PackageReader;
}

/**
 * Opens a package in a file; while it is read, a terminal shows how much of the file that is.
 *
 * @throws CliError `io_error`; PackageError, with the file as its place where the archive as a whole is at fault
 */
export async function openLocalPackage(cli: Cli, path: string): Promise<LocalPackage> {
  const source = await fromFile(path, () => openFileSource(path));
  const progress = showProgress(cli, 'reading');
  let bytesRead = 0;
  const close = async (): Promise<void> => {
    progress[Symbol.dispose]();
    await source.close();
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
