import { createWriteStream } from 'node:fs';
import { lstat, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type Lost,
  needsModel,
  type ToolExport,
  type ToolSource,
  type WrittenTool,
  writesDatasets,
  writesRuns,
  writeTool,
} from '@svc/formats';
import { encodeItem } from '@svc/jsonl-v23';
import { PUBLIC_RESULT_FIELDS, toHex } from '@svc/jsonl-v23/internal';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import {
  type ExportResult,
  PackageError,
  type PackageReader,
  type PackageRun,
  readPackageItems,
} from '@svc/pkg-format';
import { openPackageFile, zipFiles } from '@svc/pkg-format/node';
import { type Cli, given } from '../cli-context.ts';
import { CliError, isSystemError, toFileError, withFileErrors } from '../errors/cli-error.ts';
import { moveInto, outputExists, outputPath, replaceableFile } from '../output/output-file.ts';
import { throughFile } from '../output/package-output.ts';
import { printReport } from '../output/print.ts';
import { isUnnamed, openInputFile } from '../package/input-file.ts';
import { nameArchive } from '../package/open-local-package.ts';
import { toolWrittenResult } from '../text/conversion-text.ts';

export interface ToToolOptions {
  readonly output?: string;
  readonly force?: boolean;
  readonly strict?: boolean;
  readonly model?: string;
  readonly datasetOnly?: boolean;
}

/**
 * Writes a package for another tool, next to it or to the place in the options: a file, or a folder of several files.
 * The output appears when it is complete; `-` is standard output, for a file.
 *
 * @throws CliError `usage` without the model that requests name, `output_exists`, `io_error`; PackageError, also
 *   `package_unsupported` if `strict` finds something without a place
 */
export async function convertTo(
  cli: Cli,
  path: string,
  tool: WrittenTool,
  options: ToToolOptions,
): Promise<void> {
  await using file = await openInputFile(cli, path);
  try {
    await using pkg = await withFileErrors('read', path, () => openPackageFile(file.path));
    const source = await sourceOf(pkg, bareName(path), tool, options, cli.signal);
    if (source.run === null && !writesDatasets(tool)) {
      throw new CliError('usage', `Cannot write ${tool}: it is a format of runs, and there is none`);
    }
    if (!options.model && needsModel(tool, source)) {
      throw new CliError('usage', 'Cannot write an OpenAI batch: --model is missing');
    }
    const unwritten = await unwrittenRun(pkg, tool, options);
    const written = await writeTool(tool, source, given({ model: options.model }));
    const save = async (temporary: string): Promise<readonly Lost[]> => {
      await write(written, temporary, cli.signal);
      const lost = [...unwritten, ...written.lost()];
      if (options.strict === true && lost.length > 0) {
        const all = lost.map(({ what, count }) => `${what} (${count})`).join(', ');
        throw new PackageError('package_unsupported', `${tool} has no place for ${all}.`);
      }
      return lost;
    };
    if (options.output === '-') {
      if (written.kind === 'folder')
        throw new CliError('usage', '--output must be a folder for several files');
      const lost = await throughFile(cli, written.kind, (temporary) =>
        withOutputErrors(temporary, () => save(temporary)),
      );
      if (cli.json) await printReport(cli, toolWrittenResult(path, tool, '-', lost), cli.stderr);
      return;
    }
    const output = await place(path, tool, written, options);
    const lost = await saveTo(output, written, options, save);
    await printReport(cli, toolWrittenResult(path, tool, output, lost));
  } catch (error) {
    throw nameArchive(error, path);
  }
}

const bareName = (path: string): string =>
  basename(isUnnamed(path) ? 'package' : path).replace(/(?:\.pkg)?\.zip$/i, '');

/** The run of a package, if the tool has no place for it. */
async function unwrittenRun(
  pkg: PackageReader,
  tool: WrittenTool,
  { datasetOnly = false }: ToToolOptions,
): Promise<readonly Lost[]> {
  if (datasetOnly || writesRuns(tool)) return [];
  return (await pkg.readRun()) === null ? [] : [{ what: 'the run and its results', count: 1, first: {} }];
}

async function place(
  path: string,
  tool: WrittenTool,
  written: ToolExport,
  options: ToToolOptions,
): Promise<string> {
  const bare = bareName(path);
  const name = written.kind === 'folder' ? `${bare}.${tool}` : `${bare}.${tool}${written.extension}`;
  // A folder of batches, which are too long for one file, does not have a file's name.
  const isSeveral = written.kind === 'folder' && tool === 'openai-batch';
  const asked = isSeveral ? options.output?.replace(/\.jsonl$/i, '') : options.output;
  return await outputPath(asked, isUnnamed(path) ? '.' : dirname(path), name);
}

/** Writes the file or the folder beside its place, and moves it there. */
async function saveTo(
  output: string,
  written: ToolExport,
  { force = false }: ToToolOptions,
  save: (temporary: string) => Promise<readonly Lost[]>,
): Promise<readonly Lost[]> {
  const isFolder = written.kind === 'folder';
  const target = isFolder ? await replaceableFolder(output, force) : await replaceableFile(output, force);
  const folder = await withFileErrors('write', output, () =>
    mkdtemp(join(dirname(resolve(target)), '.pkg-temp-')),
  );
  try {
    const temporary = join(folder, 'output');
    const lost = await withOutputErrors(output, () => save(temporary));
    if (isFolder) {
      if (force) await rm(target, { recursive: true, force: true });
      await rename(temporary, target);
    } else await moveInto(temporary, target, output, force);
    return lost;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Only a folder gives way to a folder. */
async function replaceableFolder(path: string, force: boolean): Promise<string> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return path;
  if (!force) throw outputExists(path);
  if (found.isDirectory()) return path;
  throw new CliError('io_error', 'Cannot write the folder: it is a file', { location: { file: path } });
}

/** Errors of the file system name the output, except errors of reading the package. */
async function withOutputErrors<T>(output: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isSystemError(error) && error.syscall === 'read' ? error : toFileError(error, 'write', output);
  }
}

async function write(written: ToolExport, target: string, signal: AbortSignal): Promise<void> {
  const save = async (bytes: AsyncIterable<Uint8Array>, to: string): Promise<void> =>
    await pipeline(Readable.from(bytes, { objectMode: false }), createWriteStream(to, { flags: 'wx' }), {
      signal,
    });
  if (written.kind === 'archive') return await save(zipFiles(written.files()), target);
  if (written.kind === 'folder') await mkdir(target);
  for await (const { name, bytes } of written.files()) {
    await save(bytes, written.kind === 'folder' ? join(target, name) : target);
  }
}

async function sourceOf(
  pkg: PackageReader,
  bare: string,
  tool: WrittenTool,
  { datasetOnly = false }: ToToolOptions,
  signal: AbortSignal,
): Promise<ToolSource> {
  const counts: { readonly name: string; readonly itemCount: number }[] = [];
  for (const section of pkg.sections) {
    let itemCount = 0;
    for await (const _ of readPackageItems(pkg, section, { signal })) itemCount += 1;
    counts.push({ name: section.name, itemCount });
  }
  const run = datasetOnly || !writesRuns(tool) ? null : await pkg.readRun({ signal });
  const { name, version_hash: hash } = pkg.manifest ?? {};
  return {
    name: typeof name === 'string' ? name : bare,
    versionHash: typeof hash === 'string' ? hash : '',
    itemCount: counts.reduce((sum, { itemCount }) => sum + itemCount, 0),
    async *items() {
      for (const section of pkg.sections) {
        let orderIndex = 0;
        for await (const { item } of readPackageItems(pkg, section, { signal })) {
          const itemHash = toHex(encodeItem(item).itemHash);
          yield [{ section: section.name, orderIndex, item: item as JsonObject, itemHash }];
          orderIndex += 1;
        }
      }
    },
    run: run === null ? null : toRun(run, counts, signal),
  };
}

function toRun(
  run: PackageRun,
  counts: Parameters<PackageRun['results']>[0],
  signal: AbortSignal,
): NonNullable<ToolSource['run']> {
  const { id, name, status, startedAt, finishedAt, error, config } = run;
  return {
    ...{ id: id ?? '', name, status: status ?? 'completed', config, error: error?.message ?? null },
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    async *results() {
      for await (const batch of run.results(counts, { signal })) {
        yield batch.map((result) => {
          const values = result as unknown as Readonly<Record<string, JsonValue>>;
          const members = PUBLIC_RESULT_FIELDS.map(({ name, wire }) => [wire, values[name] ?? null] as const);
          return Object.fromEntries(members) as unknown as ExportResult;
        });
      }
    },
  };
}
