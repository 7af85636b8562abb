import type { PackageReader } from '@svc/pkg-format';
import { openFileSource, openPackageSource } from '@svc/pkg-format/node';
import type { Cli } from '../cli-context.ts';
import { toFileError } from '../file-error.ts';
import { showProgress } from '../progress.ts';
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
  await using opening = new AsyncDisposableStack();
  try {
    const source = await openFileSource(path);
    opening.defer(() => source.close());
    const progress = opening.use(showProgress(cli, 'reading'));
    let bytesRead = 0;
    const pkg = opening.use(
      await openPackageSource({
        byteLength: source.byteLength,
        async read(start, end) {
          const bytes = await fromFile(path, () => source.read(start, end));
          bytesRead += bytes.byteLength;
          progress.update(bytesRead, source.byteLength);
          return bytes;
        },
      }),
    );
    const opened = opening.move();
    return { pkg, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  } catch (error) {
    throw nameArchive(toFileError(error, 'read', path), path);
  }
}

async function fromFile<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw toFileError(error, 'read', path);
  }
}
