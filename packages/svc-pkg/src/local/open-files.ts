import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { type FileSource, openFileSource } from '@svc/pkg-format/node';
import { type DetectedFile, detectFormat, type FormatHints } from '@svc/tabular';
import { sectionNames, tableSource } from '@svc/tabular/internal';
import { CleanUp } from '../clean-up.ts';
import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { toFileError } from '../errors/file-error.ts';
import { openInputFile } from '../package/input-file.ts';
import { MAX_FILES, type NamedPath, type UnpackLimits, unpackLocal } from './unpack-local.ts';

/** A file with a table or with items, and the section that it becomes. */
export interface LocalFile extends NamedPath {
  readonly source: FileSource;
  readonly section: string;
  readonly detected: DetectedFile;
}

/** The files of a command, opened. */
export interface LocalFiles extends AsyncDisposable {
  /** In the order of their sections. */
  readonly files: readonly LocalFile[];
}

/**
 * Opens files, standard input for `-`, and the files in folders except hidden ones, and finds out what each is from its content. Archives of
 * tables and compressed Parquet files are unpacked first.
 *
 * @param limits of what is unpacked, all files together
 * @throws CliError `io_error`, `usage` for no or too many files, for packages and older archives; PackageError for
 *   an archive that cannot be read; TableError `unsupported_file`, `too_large`, `invalid_name` for two files of one name
 */
export async function openFiles(
  cli: Pick<Cli, 'stdin' | 'signal'>,
  paths: readonly string[],
  hints: FormatHints,
  limits?: UnpackLimits,
): Promise<LocalFiles> {
  const { signal } = cli;
  await using opening = new CleanUp();
  const found: NamedPath[] = [];
  for (const path of paths)
    found.push(...(path === '-' ? [await standardInput(cli, opening)] : await filesAt(path)));
  if (found.length === 0 || found.length > MAX_FILES) {
    throw new CliError('usage', `There must be 1 to ${MAX_FILES} files, got ${found.length}`);
  }
  const unpacked = await unpackLocal(found, hints, opening, { signal, ...(limits && { limits }) });
  const sections = sectionNames(unpacked.map(({ name }) => name));
  const files: LocalFile[] = [];
  for (const [index, file] of unpacked.entries()) {
    const { name, path, shown } = file;
    const source = await openFileSource(path).catch((error: unknown) => {
      throw toFileError(error, 'read', shown);
    });
    opening.defer(() => source.close());
    const detected = await detectFormat(tableSource(shown, source), { ...hints, signal });
    files.push({ ...file, source, detected, section: sections[index] ?? name });
  }
  files.sort((a, b) => Buffer.compare(Buffer.from(a.section), Buffer.from(b.section)));
  const opened = opening.move();
  return { files, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

/** Standard input, whose format its content tells. */
async function standardInput(cli: Pick<Cli, 'stdin' | 'signal'>, opening: CleanUp): Promise<NamedPath> {
  const { path, shown } = opening.use(await openInputFile(cli, '-'));
  return { name: 'stdin', path, shown };
}

/** A file by its name; the files of a folder by their paths in it. */
async function filesAt(path: string): Promise<NamedPath[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [{ name: basename(resolve(path)), path, shown: path }];
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(path, join(entry.parentPath, entry.name)))
      .filter((name) => !name.split(sep).some((part) => part.startsWith('.')))
      .map((name) => ({
        name: name.replaceAll(sep, '/'),
        path: join(path, name),
        shown: join(path, name),
      }));
  } catch (error) {
    throw toFileError(error, 'read', path);
  }
}
