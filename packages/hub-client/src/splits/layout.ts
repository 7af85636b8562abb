import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { compressionOf, shorten } from '@svc/tabular';
import { HubError } from '../errors.ts';
import { asMap, type YamlMap } from '../repository/metadata.ts';
import { declaredRows, readConfigs, readInfos } from './card-config.ts';
import { compareSplits, type FoundSplits } from './default-splits.ts';
import { type DataFormat, formatOfKind, inferKind, isOfKind } from './file-kind.ts';
import { type FileIndex, findFiles, indexFiles, servesRepository } from './find-files.ts';
import { createPacer, type Pacer } from './pacer.ts';
import {
  type DatasetLayout,
  type RepositoryFile,
  type Subset,
  type SubsetSplit,
  unsupported,
} from './subset.ts';

const NOT_PARAMS = new Set([
  'config_name',
  'data_files',
  'data_dir',
  'default',
  'features',
  'description',
  'version',
]);
/**
 * Finds the subsets, splits and data files of a repository as the `datasets` library does: by the card's `configs`, else
 * by file names. A subset that cannot be read has a `problem`, so that it does not hide the others. Unlike the library:
 * a file that matches twice is read once, each subset has its own format, `data_dir` and `data_files` work together, and
 * files that match nothing are listed.
 */
export async function layOutFiles(
  files: ReadonlyMap<string, RepositoryFile>,
  card: YamlMap,
  options: { repository?: string } = {},
): Promise<DatasetLayout> {
  const script = `${options.repository?.split('/').at(-1)}.py`;
  if (options.repository !== undefined && files.has(script)) {
    throw unsupported(`The dataset needs its script ${script}, and scripts are not supported.`);
  }
  const repository = await indexFiles(files);
  const configs = readConfigs(card['configs']);
  const infos = readInfos(card['dataset_info']);
  if (configs.size === 0) configs.set('default', {});
  const subsets: Subset[] = [];
  for (const [name, config] of configs) subsets.push(await buildSubset(name, config, repository, infos));
  return { subsets, ignoredFiles: await findIgnored(subsets, repository), card };
}

/** The files in no split, except those that serve the repository itself. */
async function findIgnored(subsets: readonly Subset[], { files, pace }: FileIndex): Promise<string[]> {
  const used = new Set<RepositoryFile>();
  for (const split of subsets.flatMap(({ splits }) => splits))
    await pace(split.files, (file) => used.add(file));
  const ignored: string[] = [];
  await pace(files, (file) => {
    if (!used.has(file) && !servesRepository(file.path)) ignored.push(file.path);
  });
  return ignored;
}

async function buildSubset(
  name: string,
  config: YamlMap,
  repository: FileIndex,
  infos: ReadonlyMap<string, YamlMap>,
): Promise<Subset> {
  const [onlyInfo] = infos.size === 1 && config['config_name'] === undefined ? infos.values() : [];
  const info = infos.get(name) ?? onlyInfo ?? {};
  const subset: Subset = {
    name,
    kind: null,
    markedDefault: Boolean(config['default']),
    format: null,
    splits: [],
    params: Object.fromEntries(Object.entries(config).filter(([key]) => !NOT_PARAMS.has(key))),
    declaredFeatures: config['features'] ?? info['features'] ?? null,
    problem: null,
  };
  let kind: string | null = null;
  let splits: SubsetSplit[] = [];
  try {
    const found = await findFiles(config, repository);
    kind = await commonKind(found, repository.pace);
    splits = await readSplits(found, kind, repository, declaredRows(info));
    return { ...subset, kind, splits, format: await readableFormat(kind, splits, repository.pace) };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return { ...subset, kind, splits, problem: error };
  }
}

async function readSplits(
  found: FoundSplits,
  kind: string,
  { byPath, pace }: FileIndex,
  rows: ReadonlyMap<string, number>,
): Promise<SubsetSplit[]> {
  const splits: SubsetSplit[] = [];
  for (const [name, paths] of found) {
    const files: RepositoryFile[] = [];
    await pace(paths, (path) => {
      const file = isOfKind(path, kind) ? byPath.get(path) : undefined;
      if (file !== undefined) files.push(file);
    });
    splits.push({ name, files, declaredRows: rows.get(name) ?? null });
  }
  return splits;
}

async function commonKind(found: FoundSplits, pace: Pacer): Promise<string> {
  const kinds: { split: string; kind: string | null }[] = [];
  for (const [split, paths] of found) kinds.push({ split, kind: await inferKind(paths, pace) });
  const [first] = kinds;
  if (first === undefined || kinds.every(({ kind }) => kind === null))
    throw unsupported('The dataset has no data files.');
  const other = kinds.find(({ kind }) => kind !== first.kind);
  if (other !== undefined || first.kind === null) {
    const list = kinds.map(({ split, kind }) => `${split}: ${kind ?? 'no files'}`).join(', ');
    throw unsupported(`The splits have files of different kinds (${list.slice(0, 200)}).`);
  }
  return first.kind;
}

async function readableFormat(
  kind: string,
  splits: readonly SubsetSplit[],
  pace: Pacer,
): Promise<DataFormat> {
  const format = formatOfKind(kind);
  if (format === null) throw unsupported(`Files of kind ${kind} are not supported.`);
  for (const { files } of splits) {
    await pace(files, ({ path }) => {
      const compression = compressionOf(path);
      if (compression === 'other' || (format === 'parquet' && compression !== undefined)) {
        throw unsupported(`The compression of ${shorten(path)} is not supported.`);
      }
    });
  }
  return format;
}

/** Revision at which the hub keeps the Parquet copies that it makes of the default branch. */
export const CONVERTED_REVISION = 'refs/convert/parquet';

/**
 * Reads the layout of the hub's converted Parquet branch: `{subset}/{split}/0000.parquet`. A copy of only the first
 * rows is called `partial-{split}`, a copy of very many files `{split}-part0`, `{split}-part1`, ...
 */
export async function convertedLayout(
  files: Iterable<RepositoryFile>,
  card: YamlMap,
): Promise<{ layout: DatasetLayout; partialSplits: string[] }> {
  const subsets = new Map<string, Map<string, Array<{ part: number; file: RepositoryFile }>>>();
  const partialSplits = new Set<string>();
  await createPacer()(files, (file) => {
    // No split name holds a dash, so the two forms cannot be anything else.
    const match = /^([^/]+)\/(partial-)?([^/]+?)(?:-part([0-9]+))?\/[^/]+\.parquet$/.exec(file.path);
    if (match === null) return;
    const [, subset = '', partial, split = '', part = '0'] = match;
    const splits = subsets.get(subset) ?? new Map<string, Array<{ part: number; file: RepositoryFile }>>();
    subsets.set(subset, splits);
    const found = splits.get(split);
    if (found === undefined) splits.set(split, [{ part: Number(part), file }]);
    else found.push({ part: Number(part), file });
    if (partial !== undefined) partialSplits.add(`${subset}/${split}`);
  });
  const marked = defaultName(card);
  const layout: DatasetLayout = {
    subsets: [...subsets].map(
      ([name, splits]): Subset => ({
        name,
        kind: 'parquet',
        markedDefault: name === marked,
        format: 'parquet',
        splits: [...splits]
          .sort(([a], [b]) => compareSplits(a, b))
          .map(([split, found]) => ({
            name: split,
            files: found
              .sort((a, b) => a.part - b.part || compareUtf8(a.file.path, b.file.path))
              .map(({ file }) => file),
            declaredRows: null,
          })),
        params: {},
        declaredFeatures: null,
        problem: null,
      }),
    ),
    ignoredFiles: [],
    card,
  };
  return { layout, partialSplits: [...partialSplits] };
}

function defaultName(card: YamlMap): string | null {
  const configs = card['configs'];
  for (const config of Array.isArray(configs) ? configs : []) {
    const { default: isDefault, config_name: name } = asMap(config) ?? {};
    if (isDefault === true && typeof name === 'string') return name;
  }
  return null;
}
