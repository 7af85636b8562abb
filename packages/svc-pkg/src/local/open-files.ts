import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { type FileSource, openFileSource } from '@svc/pkg-format/node';
import { type DetectedFile, detectFormat, type FormatHints } from '@svc/tabular';
import { sectionNames, tableSource } from '@svc/tabular/internal';
import { CliError } from '../errors/cli-error.ts';
import { toFileError } from '../errors/file-error.ts';

/** A file with a table or with items, and the section that it becomes. */
export interface LocalFile {
  /** As an upload would name it. */
  readonly name: string;
  readonly path: string;
  readonly source: FileSource;
  readonly section: string;
  readonly detected: DetectedFile;
}

/** The files of a command, opened. */
export interface LocalFiles extends AsyncDisposable {
  /** In the order of their sections. */
  readonly files: readonly LocalFile[];
}

/** As many files as an upload may have. */
const MAX_FILES = 1000;

/**
 * Opens files, and the files in folders except hidden ones, and finds out what each is from its content.
 *
 * @throws CliError `io_error`, `usage` for no or too many files, for an archive, and for a compressed Parquet file;
 *   TableError `unsupported_file`; JsonlError for two files of one name
 */
export async function openFiles(
  paths: readonly string[],
  hints: FormatHints,
  signal: AbortSignal,
): Promise<LocalFiles> {
  const found = (await Promise.all(paths.map(filesAt))).flat();
  if (found.length === 0 || found.length > MAX_FILES) {
    throw new CliError('usage', `There must be 1 to ${MAX_FILES} files, got ${found.length}`);
  }
  await using opening = new AsyncDisposableStack();
  const sections = sectionNames(found.map(({ name }) => name));
  const files: LocalFile[] = [];
  for (const [index, { name, path }] of found.entries()) {
    const source = await openFileSource(path).catch((error: unknown) => {
      throw toFileError(error, 'read', path);
    });
    opening.defer(() => source.close());
    await refuseArchive(source, path);
    const detected = await detectFormat(tableSource(path, source), hints, signal);
    if (detected.format === 'parquet' && detected.compression !== null) {
      throw new CliError('usage', 'A Parquet file must be unpacked first', { location: { file: path } });
    }
    files.push({ name, path, source, detected, section: sections[index] ?? name });
  }
  files.sort((a, b) => Buffer.compare(Buffer.from(a.section), Buffer.from(b.section)));
  const opened = opening.move();
  return { files, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function refuseArchive(source: FileSource, path: string): Promise<void> {
  const head = Buffer.from(await source.read(0, Math.min(4, source.byteLength))).toString('latin1');
  if (!head.startsWith('PK\u0003\u0004') && !head.startsWith('PK\u0005\u0006')) return;
  const message =
    'It is an archive: seal a package, convert an older archive, or unpack files with tables first';
  throw new CliError('usage', message, { location: { file: path } });
}

/** A file by its name; the files of a folder by their paths in it. */
async function filesAt(path: string): Promise<{ readonly name: string; readonly path: string }[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [{ name: basename(resolve(path)), path }];
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(path, join(entry.parentPath, entry.name)))
      .filter((name) => !name.split(sep).some((part) => part.startsWith('.')))
      .map((name) => ({ name: name.replaceAll(sep, '/'), path: join(path, name) }));
  } catch (error) {
    throw toFileError(error, 'read', path);
  }
}
