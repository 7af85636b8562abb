import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { SourceLocation } from '@svc/jsonl-v23';
import { abortable } from '@svc/jsonl-v23/streams';
import { openPackage, PackageError, type PackageReader } from '@svc/pkg-format';
import { type FileSource, openFileSource, zipFolder } from '@svc/pkg-format/node';
import { CleanUp } from '../clean-up.ts';
import type { Cli } from '../cli-context.ts';
import { toFileError, withFileErrors } from '../errors/cli-error.ts';
import { createTemporaryFolder, writeTemporaryFile } from '../output/output-file.ts';
import { showProgress } from '../output/progress.ts';

/** A file that a command reads; disposing deletes a temporary copy. */
export interface InputFile extends AsyncDisposable {
  readonly path: string;
  /** The path that the user gave: `-` for standard input. */
  readonly shown: string;
}

const DESCRIPTOR = /^\/(?:dev\/(?:stdin$|fd\/)|proc\/[^/]+\/fd\/)/;

/** Whether an input has neither a name nor a folder: standard input, and descriptors such as `/dev/fd/63` of `<(…)`. */
export const isUnnamed = (path: string): boolean => path === '-' || DESCRIPTOR.test(resolve(path));

/** The names of inputs. Inputs without a file name are `stdin`, and several descriptors have numbers. */
export function inputNames(paths: readonly string[]): string[] {
  let unnamed = 0;
  return paths.map((path) => {
    if (!isUnnamed(path)) return basename(resolve(path));
    unnamed += 1;
    return path === '-' || unnamed === 1 ? 'stdin' : `stdin-${unnamed}`;
  });
}

/**
 * Standard input for `-`, and pipes such as `<(zcat items.jsonl.gz)`, are first written to a temporary file, because
 * archives are read from their end.
 */
export async function openInputFile(
  { stdin, signal }: Pick<Cli, 'stdin' | 'signal'>,
  path: string,
): Promise<InputFile> {
  if (path === '-') return await temporaryCopy(path, stdin, signal);
  const found = await stat(path).catch(() => null);
  if (found?.isFIFO()) return await temporaryCopy(path, createReadStream(path), signal);
  return { path, shown: path, [Symbol.asyncDispose]: async () => undefined };
}

/** The files of a folder as an archive, in a temporary file. */
export function openFolderAsArchive({ signal }: Pick<Cli, 'signal'>, folder: string): Promise<InputFile> {
  return temporaryCopy(folder, zipFolder(folder, signal), signal);
}

async function temporaryCopy(
  shown: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<InputFile> {
  await using opening = new CleanUp();
  const folder = opening.use(await createTemporaryFolder());
  const path = join(folder.path, 'copy.zip');
  await withFileErrors('write', path, () => writeTemporaryFile(path, chunks, signal));
  return opening.moveTo({ path, shown });
}

export function openSource(path: string, shown: string): Promise<FileSource> {
  return withFileErrors('read', shown, () => openFileSource(path));
}

/** The bytes of a file, in order. @param path `-` for standard input @throws CliError `io_error`; the signal's reason */
export async function* readBytes({ stdin, signal }: Cli, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* abortable(path === '-' ? stdin : createReadStream(path), signal);
  } catch (error) {
    throw toFileError(error, 'read', path);
  }
}

/** Reads a short file. @throws as {@link readBytes} */
export async function readText(cli: Cli, path: string): Promise<string> {
  return (await buffer(readBytes(cli, path))).toString();
}

/** Opens a package in a file; a terminal shows how much of it was read. */
export async function openLocalPackage(
  cli: Cli,
  path: string,
  openInput: typeof openInputFile = openInputFile,
) {
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

export const entryOf =
  (archive: string) =>
  (entry: string): string =>
    `${archive}!/${entry}`;

/** Adds the path of the archive to an error and the errors that it lists. */
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
