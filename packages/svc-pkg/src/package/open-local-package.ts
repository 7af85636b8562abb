import type { SourceLocation } from '@svc/jsonl-v23';
import { openPackage, PackageError, type PackageReader } from '@svc/pkg-format';
import { CleanUp } from '../clean-up.ts';
import type { Cli } from '../cli-context.ts';
import { withFileErrors } from '../errors/cli-error.ts';
import { showProgress } from '../output/progress.ts';
import { openInputFile, openSource } from './input-file.ts';

export interface LocalPackage extends AsyncDisposable {
  readonly pkg: PackageReader;
}

/**
 * Opens a package in a file; a terminal shows how much of it was read.
 *
 * @param openInput opens the file of the path
 * @throws CliError `io_error`; PackageError, with the location of the file if it is about the whole archive
 */
export async function openLocalPackage(
  cli: Cli,
  path: string,
  openInput: typeof openInputFile = openInputFile,
): Promise<LocalPackage> {
  await using opening = new CleanUp();
  const input = opening.use(await openInput(cli, path));
  const source = await openSource(input.path, path);
  opening.defer(() => source.close());
  const progress = showProgress(cli, 'reading');
  opening.defer(async () => progress[Symbol.dispose]());
  let bytesRead = 0;
  const opened = openPackage({
    byteLength: source.byteLength,
    async read(start, end) {
      const bytes = await withFileErrors('read', path, () => source.read(start, end));
      bytesRead += bytes.byteLength;
      progress.update(bytesRead, source.byteLength);
      return bytes;
    },
  });
  const pkg = await opened.catch((error: unknown) => {
    throw nameArchive(error, path, (entry) => entry);
  });
  opening.use(pkg);
  return opening.moveTo({ pkg });
}

/** An entry of an archive, as errors name it. */
export const entryOf =
  (archive: string) =>
  (entry: string): string =>
    `${archive}!/${entry}`;

/**
 * Adds the path of the archive to an error and the errors that it lists.
 *
 * @param nameEntry names an entry of the archive
 */
export function nameArchive(
  error: unknown,
  path: string,
  nameEntry: (entry: string) => string = entryOf(path),
): unknown {
  if (!(error instanceof PackageError)) return error;
  const named = (one: PackageError): SourceLocation => {
    const { file } = one.location;
    return { ...one.location, file: file === undefined || file === path ? path : nameEntry(file) };
  };
  const errors = error.errors.map(
    (one) => new PackageError(one.code, one.message, { location: named(one), cause: one }),
  );
  const location = named(error);
  const { errorsTotal } = error;
  return new PackageError(error.code, error.message, { location, cause: error, errors, errorsTotal });
}

/** Opens a package in a file and reads it. Errors of the package name the archive with the entry. */
export async function withLocalPackage<T>(
  cli: Cli,
  path: string,
  read: (pkg: PackageReader) => Promise<T>,
): Promise<T> {
  try {
    await using opened = await openLocalPackage(cli, path);
    return await read(opened.pkg);
  } catch (error) {
    throw nameArchive(error, path);
  }
}
