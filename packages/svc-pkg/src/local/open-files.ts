import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { recogniseTool, type ToolFile } from '@svc/formats';
import { type ArchiveKind, DEFAULT_LIMITS, type PackageLimits, recogniseArchive } from '@svc/pkg-format';
import type { FileSource } from '@svc/pkg-format/node';
import type { FormatHints } from '@svc/tabular';
import {
  chooseTables,
  type InputFile,
  limitContent,
  MAX_FILES,
  type PackedFile,
  type SkippedFile,
  skippedByName,
} from '@svc/tabular/datasets';
import { CleanUp } from '../clean-up.ts';
import type { Cli } from '../cli-context.ts';
import { type CliError, usageError, withFileErrors } from '../errors/cli-error.ts';
import { createTemporaryFolder, writeTemporaryFile } from '../output/output-file.ts';
import { inputNames, nameArchive, openInputFile, openSource } from '../package/input-file.ts';
import { printableValue } from '../text/format.ts';

export interface LocalFile extends InputFile {
  /** The path that the user gave, or a path in that folder or archive. */
  readonly label: string;
  readonly source: FileSource & Pick<InputFile['source'], 'maxContentBytes'>;
}

export type LocalFiles = Awaited<ReturnType<typeof openFiles>>;

/**
 * Opens files, standard input for `-`, and the tables in folders except hidden ones, and finds out what each is. Archives
 * of tables and compressed Parquet files are unpacked first, within the limits for all files together.
 *
 * @returns the files in the order of their sections, and the bytes of all before they were unpacked
 */
export async function openFiles(
  cli: Pick<Cli, 'stdin' | 'signal'>,
  paths: readonly string[],
  options: { readonly hints: FormatHints; readonly isMapped: boolean; readonly limits?: PackageLimits },
) {
  const { signal } = cli;
  const { hints, isMapped, limits = DEFAULT_LIMITS } = options;
  await using opening = new CleanUp();
  const found: Awaited<ReturnType<typeof filesAt>> = [];
  const passedOver: SkippedFile[] = [];
  const names = inputNames(paths);
  for (const [index, path] of paths.entries())
    for (const file of await filesAt(cli, path, names[index] ?? path, opening)) {
      const reason = file.isFound ? skippedByName(file.name) : null;
      if (reason === null) found.push(file);
      else passedOver.push({ name: file.name, reason });
    }
  if (found.length + passedOver.length === 0 || found.length > MAX_FILES) {
    throw usageError(`There must be 1 to ${MAX_FILES} files, got ${found.length}`);
  }
  const openAt = async (
    name: string,
    path: string,
    label: string,
    fromBytes?: number,
  ): Promise<LocalFile> => {
    const source = await openSource(path, label);
    opening.defer(() => source.close());
    return { name, label, source: limitContent(source, limits, fromBytes) };
  };
  const packed: PackedFile<LocalFile>[] = [];
  for (const each of found) {
    const file = await openAt(each.name, each.path, each.label);
    if (!isMapped && hints.format === undefined) await refuseLog(file, file.label);
    const recognising = recogniseArchive(file.source, { limits, areTables: isMapped, signal });
    const recognised = await recognising.catch((error: unknown) => {
      throw nameArchive(error, file.label);
    });
    if (recognised !== null && recognised.kind !== 'files') throw notFiles(recognised.kind, file.label);
    packed.push({ file, archive: recognised?.archive ?? null, isFound: each.isFound });
  }
  const sentBytes = packed.reduce((sum, { file }) => sum + file.source.byteLength, 0);
  let folder: string | undefined;
  let count = 0;
  const chosen = await chooseTables(packed, {
    ...{ hints, maxTotalBytes: limits.maxTotalBytes, skipped: passedOver, signal },
    async store({ name, label, from, content }) {
      folder ??= opening.use(await createTemporaryFolder()).path;
      count += 1;
      const path = join(folder, String(count));
      await writeTemporaryFile(path, content, signal).catch((error: unknown) => {
        throw nameArchive(error, from.label);
      });
      return await openAt(name, path, label, sentBytes);
    },
  });
  return opening.moveTo({ ...chosen, sentBytes });
}

/**
 * A file by the name that an upload would give it, which is from `inputNames`; the files of a folder by their paths in it
 * (`isFound`).
 */
function filesAt(cli: Pick<Cli, 'stdin' | 'signal'>, path: string, name: string, opening: CleanUp) {
  return withFileErrors('read', path, async () => {
    if (path === '-' || !(await stat(path)).isDirectory()) {
      const file = opening.use(await openInputFile(cli, path));
      return [{ name, path: file.path, label: path, isFound: false }];
    }
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(path, join(entry.parentPath, entry.name)))
      .filter((name) => !name.split(sep).some((part) => part.startsWith('.')))
      .map((name) => ({
        name: name.replaceAll(sep, '/'),
        path: join(path, name),
        label: join(path, name),
        isFound: true,
      }));
  });
}

function notFiles(kind: Exclude<ArchiveKind, 'files'>, path: string): CliError {
  const advice = {
    package: {
      message: 'It is a package, not a file with a table',
      hint: `What it contains: svc-pkg inspect ${printableValue(path)}`,
    },
    legacy_package: {
      message: 'It is an archive of an older format',
      hint: `To turn it into a package: svc-pkg convert ${printableValue(path)}`,
    },
    office_document: { message: 'It is an Office document; save its table as CSV', hint: undefined },
  };
  const { message, hint } = advice[kind];
  return usageError(message, { location: { file: path }, ...(hint && { hint }) });
}

/** Refuses a log of Inspect, whose files look like an older archive's. */
export async function refuseLog(file: ToolFile, path: string): Promise<void> {
  if ((await withFileErrors('read', path, () => recogniseTool([file]))) !== 'inspect') return;
  throw usageError('It is a log of Inspect', {
    location: { file: path },
    hint: `To turn it into a package: svc-pkg convert --from inspect ${printableValue(path)}`,
  });
}
