import { compressionOf, type DataFormat, shorten } from '@svc/tabular/internal';
import { HubError } from '../errors.ts';
import type { YamlMap } from '../repository/yaml-value.ts';
import { declaredRows, readConfigs, readInfos } from './card-config.ts';
import type { FoundSplits } from './default-splits.ts';
import { formatOfKind, inferKind, isOfKind } from './file-kind.ts';
import { type FileIndex, findFiles, indexFiles, servesRepository } from './find-files.ts';
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
 *
 * @param files every file of the repository
 * @param card the metadata of the dataset card
 * @param options.repository id of the repository; a script named after it makes the dataset unsupported
 * @throws HubError `hub_unsupported_dataset`
 */
export function layOutFiles(
  files: readonly RepositoryFile[],
  card: YamlMap,
  options: { repository?: string } = {},
): DatasetLayout {
  const script = `${options.repository?.split('/').at(-1)}.py`;
  if (options.repository !== undefined && files.some(({ path }) => path === script)) {
    throw unsupported(`The dataset needs its script ${script}, and scripts are not supported.`);
  }
  const repository = indexFiles(files);
  const configs = readConfigs(card['configs']);
  const infos = readInfos(card['dataset_info']);
  const subsets =
    configs.size === 0
      ? [buildSubset('default', {}, repository, infos)]
      : [...configs].map(([name, config]) => buildSubset(name, config, repository, infos));
  const used = new Set(subsets.flatMap(({ splits }) => splits.flatMap((split) => split.files)));
  const ignoredFiles = repository.files
    .filter((file) => !used.has(file) && !servesRepository(file.path))
    .map(({ path }) => path);
  return { subsets, ignoredFiles, card };
}

function buildSubset(
  name: string,
  config: YamlMap,
  repository: FileIndex,
  infos: ReadonlyMap<string, YamlMap>,
): Subset {
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
    const found = findFiles(config, repository);
    kind = commonKind(found);
    splits = readSplits(found, kind, repository, declaredRows(info));
    return { ...subset, kind, splits, format: readableFormat(kind, splits) };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return { ...subset, kind, splits, problem: error };
  }
}

function readSplits(
  found: FoundSplits,
  kind: string,
  { byPath }: FileIndex,
  rows: ReadonlyMap<string, number>,
): SubsetSplit[] {
  return [...found].map(([name, paths]) => ({
    name,
    files: paths.flatMap((path) => (isOfKind(path, kind) ? (byPath.get(path) ?? []) : [])),
    declaredRows: rows.get(name) ?? null,
  }));
}

/** The kind of the files of all splits. */
function commonKind(found: FoundSplits): string {
  const kinds = [...found].map(([split, paths]) => ({ split, kind: inferKind(paths) }));
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

function readableFormat(kind: string, splits: readonly SubsetSplit[]): DataFormat {
  const format = formatOfKind(kind);
  if (format === null) throw unsupported(`Files of kind ${kind} are not supported.`);
  for (const { path } of splits.flatMap(({ files }) => files)) {
    const compression = compressionOf(path);
    if (compression === 'other' || (format === 'parquet' && compression !== undefined)) {
      throw unsupported(`The compression of ${shorten(path)} is not supported.`);
    }
  }
  return format;
}
