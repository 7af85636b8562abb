import { createWriteStream } from 'node:fs';
import { lstat, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  convertTool,
  type Lost,
  needsModel,
  TOOLS,
  type Tool,
  type ToolExport,
  type ToolFile,
  type ToolReport,
  type ToolSource,
  WRITTEN_TOOLS,
  type WrittenTool,
  writesDatasets,
  writesRuns,
  writeTool,
} from '@svc/formats';
import { encodeItem, formatLocation } from '@svc/jsonl-v23';
import { toHex } from '@svc/jsonl-v23/bytes';
import { type JsonObject, type JsonValue, jsonText } from '@svc/jsonl-v23/json';
import { PUBLIC_RESULT_FIELDS } from '@svc/jsonl-v23/runs';
import {
  type ExportResult,
  PackageError,
  type PackageReader,
  type PackageRun,
  readPackageItems,
} from '@svc/pkg-format';
import {
  type ConversionReport,
  convertLegacyFile,
  legacyOutputPath,
  openPackageFile,
  type ReportedChange,
  zipFiles,
} from '@svc/pkg-format/node';
import { CleanUp } from '../clean-up.ts';
import { type Cli, generatorOf, given } from '../cli-context.ts';
import { CliError, isSystemError, toFileError, usageError, withFileErrors } from '../errors/cli-error.ts';
import { refuseLog } from '../local/open-files.ts';
import { moveInto, outputExists, outputPath, replaceableFile } from '../output/output-file.ts';
import {
  checkOutputOfSeveral,
  outputPackage,
  packageOutput,
  throughFile,
  type WriteOptions,
  withDefaultOutput,
} from '../output/package-output.ts';
import { eachPath, printReport, type Result } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import {
  entryOf,
  inputNames,
  isUnnamed,
  nameArchive,
  openInputFile,
  openSource,
} from '../package/input-file.ts';
import { countOf, formatFacts, printableText, printableValue } from '../text/format.ts';
import { checkName, choice, flag, number, operation, text, type Values } from './define-operation.ts';

const OPTIONS = {
  name: text('--name <name>', 'name of the dataset (default: the name in the archive, else the file name)'),
  from: choice('--from <tool>', 'the tool that wrote the files', TOOLS),
  to: choice('--to <tool>', 'the tool that is to read the package: its run, else its dataset', WRITTEN_TOOLS),
  model: text('--model <name>', 'with --to openai-batch: the model of the requests'),
  datasetOnly: flag('--dataset-only', 'with --to: the dataset, also of a package with a run'),
  prompt: number(
    '--prompt <n>',
    'with --from promptfoo: only the results of this prompt and provider (promptIdx, from 0)',
    { min: 0, max: 1_000_000 },
  ),
  keepSource: flag('--keep-source', 'with --from: keep the row of the tool in each item, as meta.source_row'),
  strict: flag('--strict', 'with --from or --to: fail if anything has no place'),
  ...packageOutput('<file>.pkg.zip in the folder of the file'),
};

type Options = Values<typeof OPTIONS>;

export const convert = operation({
  summary: 'turn legacy archives and files of other tools into packages',
  description:
    'Turns a legacy archive into a package and reports what it changed. It drops nothing: members without an ' +
    'equivalent stay as they are. The same archive always gives the same package. With --from, the files of ' +
    'another tool become one package: a dataset, and a run if they hold results; the report counts what has no place.',
  arguments: {
    inputs: ['<files...>', '.zip files, or with --from files of that tool; - for standard input'],
  },
  options: OPTIONS,
  service: false,
  examples: [
    'svc-pkg convert old.zip',
    'svc-pkg convert old.zip --name "GSM8K" --output packages/',
    'svc-pkg convert old/*.zip --output packages/',
    'svc-pkg convert old.zip --output - | ssh backup "cat > new.pkg.zip"',
    'svc-pkg convert --from lm-eval samples_gsm8k_*.jsonl results_*.json --output gsm8k.pkg.zip',
    'svc-pkg convert --to inspect run.pkg.zip',
  ],
  async run({ inputs, ...options }, cli) {
    checkName(options.name);
    const { from, to, keepSource, strict, prompt } = options;
    if (from !== undefined && to !== undefined) throw usageError('--from and --to exclude each other');
    if (from !== undefined) return await convertFiles(cli, inputs, from, options);
    if (to === undefined && (keepSource !== undefined || strict !== undefined))
      throw usageError('--keep-source and --strict need --from or --to');
    if (to === undefined && prompt !== undefined) throw usageError('--prompt needs --from');
    await checkOutputOfSeveral(inputs, options);
    await eachPath(cli, inputs, (out, input) =>
      to === undefined ? convertOne(out, input, options) : convertTo(out, input, to, options),
    );
  },
});

async function convertFiles(
  cli: Cli,
  inputs: readonly string[],
  tool: Tool,
  options: Options,
): Promise<void> {
  await using opened = new CleanUp();
  const files: ToolFile[] = [];
  const names = inputNames(inputs);
  for (const [index, path] of inputs.entries()) {
    const input = opened.use(await openInputFile(cli, path));
    const source = await openSource(input.path, path);
    opened.defer(() => source.close());
    files.push({ name: names[index] ?? path, source });
  }
  const [input = ''] = inputs;
  const bare = basename(input).replace(/\.(?:jsonl|json|eval|ya?ml|csv)$/i, '');
  const defaultPath = join(dirname(input), `${bare}.pkg.zip`);
  const chosen = withDefaultOutput(options, inputs);
  const { name, keepSource, strict, prompt } = options;
  await outputPackage(cli, chosen, { input, defaultPath }, async (target, force) => {
    const further = (number: number): Promise<string> =>
      replaceableFile(target.replace(/((?:\.pkg)?\.zip)?$/i, `.prompt-${number}$1`), force);
    const [first, ...others] = await convertTool(tool, files, {
      ...{ output: target, name, force, generator: generatorOf(cli), signal: cli.signal, prompt },
      // Standard output takes one package.
      ...(chosen.output === '-' ? {} : { further }),
      ...given({ keepSource, strict }),
    });
    if (first === undefined) throw new Error('The files of a tool become at least one package.');
    return (shown) => toolResult(inputs, [{ ...first, output: shown }, ...others]);
  });
}

/** @throws CliError `usage` for a log, `io_error` */
async function checkArchive(input: string, path: string): Promise<void> {
  const source = await openSource(input, path);
  await refuseLog({ name: path, source }, path).finally(() => source.close());
}

async function convertOne(cli: Cli, path: string, options: WriteOptions): Promise<void> {
  await using file = await openInputFile(cli, path);
  const input = file.path;
  await checkArchive(input, path);
  const chosen = withDefaultOutput(options, [path]);
  const defaultPath = legacyOutputPath(isUnnamed(path) ? 'stdin' : path);
  const source = { input, shown: path, nameEntry: entryOf(path), defaultPath };
  await outputPackage(cli, chosen, source, async (target, force) => {
    using progress = showProgress(cli, 'converting');
    const report = await convertLegacyFile(input, {
      ...{ output: target, force, generator: generatorOf(cli) },
      ...{ signal: cli.signal, onRead: progress.update },
      ...given({ name: options.name }),
      fallbackName: basename(defaultPath, '.pkg.zip'),
    });
    return (output) => conversionResult(path, { ...report, output });
  });
}

/** Writes a package for another tool. The output appears when it is complete; `-` is standard output, for a file. */
async function convertTo(cli: Cli, path: string, tool: WrittenTool, options: Options): Promise<void> {
  await using file = await openInputFile(cli, path);
  try {
    await using pkg = await withFileErrors('read', path, () => openPackageFile(file.path));
    const run = options.datasetOnly ? null : await pkg.readRun({ signal: cli.signal });
    const source = await sourceOf(pkg, bareName(path), writesRuns(tool) ? run : null, cli.signal);
    if (source.run === null && !writesDatasets(tool)) {
      throw usageError(`Cannot write ${tool}: it is a format of runs, and there is none`);
    }
    if (!options.model && needsModel(tool, source)) {
      throw usageError('Cannot write an OpenAI batch: --model is missing');
    }
    const hasPlace = run === null || source.run !== null;
    const unwritten = hasPlace ? [] : [{ what: 'the run and its results', count: 1, first: {} }];
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
      if (written.kind === 'folder') throw usageError('--output must be a folder for several files');
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

async function place(
  path: string,
  tool: WrittenTool,
  written: ToolExport,
  options: Options,
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
  { force: isForced }: Options,
  save: (temporary: string) => Promise<readonly Lost[]>,
): Promise<readonly Lost[]> {
  const force = isForced === true;
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
  run: PackageRun | null,
  signal: AbortSignal,
): Promise<ToolSource> {
  const counts: { readonly name: string; readonly itemCount: number }[] = [];
  for (const section of pkg.sections) {
    let itemCount = 0;
    for await (const _ of readPackageItems(pkg, section, { signal })) itemCount += 1;
    counts.push({ name: section.name, itemCount });
  }
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

/** Text for people lists this many entries and counts the rest. */
const MAX_LISTED = 100;

function conversionResult(input: string, report: ConversionReport): Result {
  const { output, name, versionHash, itemCount, sections, fileCount, changes, carried, alreadyNew } = report;
  return {
    text: () =>
      [
        formatFacts([
          ['output', output],
          ['name', printableValue(name)],
          ['version hash', versionHash],
          ['items', `${itemCount} in ${countOf(sections.length, 'section')}`],
          ['files', fileCount],
          ['changed', alreadyNew ? 'only the generator in the manifest: it already was a package' : null],
          ['changed', !alreadyNew && changes.length === 0 ? 'nothing in the items' : null],
        ]),
        ...list('\nsections', sections, ({ name, from, itemCount }) => {
          return `${printableValue(name)}: ${countOf(itemCount, 'item')} of ${printableValue(from)}`;
        }),
        ...list('\nchanged', changes, changeLine),
        ...list('\ncarried over unchanged', carried, printableValue),
      ].join(''),
    json: () =>
      jsonText({
        ...{ input, output, name, version_hash: versionHash, item_count: itemCount },
        sections: sections.map(({ name, from, itemCount }) => ({ name, from, item_count: itemCount })),
        file_count: fileCount,
        changes: changes.map(({ what, from, to, count, first }) => ({ what, from, to, count, first })),
        ...{ carried, already_new: alreadyNew },
      }),
  };
}

/** The report on files of another tool, which become one package or several. */
function toolResult(input: readonly string[], reports: readonly ToolReport[]): Result {
  const documents = reports.map((report) => ({
    ...{ input, output: report.output, tool: report.tool, prompt: report.prompt, name: report.name },
    ...{ version_hash: report.versionHash, item_count: report.itemCount },
    sections: report.sections.map((section) => ({ name: section.name, item_count: section.itemCount })),
    result_count: report.resultCount,
    lost: report.lost.map(({ what, count, first }) => ({ what, count, first })),
  }));
  return {
    text: () => reports.map(toolText).join('\n'),
    json: () => jsonText(documents.length === 1 ? documents[0] : documents),
  };
}

const toolText = (report: ToolReport): string =>
  [
    formatFacts([
      ['output', report.output],
      ['tool', report.tool],
      ['name', printableValue(report.name)],
      ['version hash', report.versionHash],
      ['items', `${report.itemCount} in ${countOf(report.sections.length, 'section')}`],
      ['results', report.resultCount === 0 ? null : report.resultCount],
    ]),
    ...list('\nwithout a place', report.lost, ({ what, count, first }) => {
      return `${count} x ${what} (first: ${formatLocation(first)})`;
    }),
  ].join('');

const toolWrittenResult = (
  input: string,
  tool: WrittenTool,
  output: string,
  lost: readonly Lost[],
): Result => ({
  text: () =>
    [
      formatFacts([
        ['output', output],
        ['tool', tool],
      ]),
      ...list('\nwithout a place', lost, ({ what, count }) => `${count} x ${what}`),
    ].join(''),
  json: () => jsonText({ input, output, tool, lost: lost.map(({ what, count }) => ({ what, count })) }),
});

type Change = Pick<ReportedChange, 'from' | 'to'>;

const CHANGES: Readonly<Record<ReportedChange['what'], (change: Change) => string>> = {
  moved: ({ from, to }) => `${from} is now ${to}`,
  clash: ({ from, to }) => `${from} stays: ${to} has another value`,
  kept: ({ from, to }) => `${from} stays: it is not valid as ${to}`,
  applied: ({ from, to }) => `${to} comes from ${from.replace(/^dataset /, '')} of the dataset`,
  asset: ({ from, to }) => `${from} is now a file in ${to}`,
  removed: ({ from }) => `${from} was null and is removed`,
};

function changeLine({ what, count, first, ...change }: ReportedChange): string {
  return `${count} x ${CHANGES[what](change)} (first: ${formatLocation(first)})`;
}

function list<T>(title: string, entries: readonly T[], line: (entry: T) => string): string[] {
  if (entries.length === 0) return [];
  const lines = entries.slice(0, MAX_LISTED).map((entry) => `  ${printableText(line(entry))}\n`);
  const more = entries.length - lines.length;
  return [`${title}\n`, ...lines, ...(more > 0 ? [`  ... and ${more} more\n`] : [])];
}
