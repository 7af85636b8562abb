import { compressionOf, type DataFormat, shorten } from '@svc/tabular/internal';
import { HubError } from '../errors.ts';
import { parseDatasetCard } from '../repository/dataset-card.ts';
import { asMap, type YamlMap, type YamlValue } from '../repository/parse-yaml.ts';
import { compareUtf8 } from './compare-utf8.ts';
import { type FoundSplits, findDefaultSplits } from './default-splits.ts';
import { formatOfKind, inferKind, isDataFile, isOfKind } from './file-kind.ts';
import { compileGlob, type MatchBudget } from './glob.ts';
import { isSplitName } from './split-slice.ts';

/** A file of the repository, by its path from the root. */
export interface RepositoryFile {
  path: string;
  /** Size in bytes. */
  size: number;
}

/** A split of a subset and its files, in the order in which their rows follow each other. */
export interface SubsetSplit {
  name: string;
  files: RepositoryFile[];
  /** Rows that the dataset card claims; the card may be out of date. */
  declaredRows: number | null;
}

/** A subset ("config") of a dataset. */
export interface Subset {
  name: string;
  /** What kind of files the subset has, in the words of the hub's loader (`csv`, `imagefolder`, ...). */
  kind: string | null;
  /** Whether the card marks it with `default: true`. */
  markedDefault: boolean;
  /** The format to read the files in; null where `problem` says why they are not read. */
  format: DataFormat | null;
  splits: SubsetSplit[];
  /** How to read the files, as the card says: `sep`, `encoding`, ... Unknown keys are left to be ignored. */
  params: YamlMap;
  /** Features in the card's own form, for `featuresFromYaml`. */
  declaredFeatures: YamlValue;
  /** Why this subset cannot be read; the others still can. */
  problem: HubError | null;
}

/** How a repository's files make up subsets and splits. */
export interface DatasetLayout {
  subsets: Subset[];
  /** Paths that belong to no split of any subset, files that only serve the repository aside. */
  ignoredFiles: string[];
  /** All metadata of the dataset card: license, language, tags and the like. */
  card: YamlMap;
}

// Never data unless a pattern names them.
const NOT_DATA = new Set([
  'README.md',
  'config.json',
  'dataset_info.json',
  'dataset_infos.json',
  'dummy_data.zip',
  'dataset_dict.json',
]);
const NOT_PARAMS = new Set([
  'config_name',
  'data_files',
  'data_dir',
  'default',
  'features',
  'description',
  'version',
]);
/** What looking at a name and cutting it up costs, in steps of matching. */
const STEPS_PER_MATCH = 10;
const STEPS_PER_NAME = 150;
const MAX_PATTERN_LENGTH = 1024;
/** A fifth of a second. A repository of 100,000 files needs some million steps. */
const MATCH_STEPS = 20_000_000;

/**
 * Finds the subsets, splits and data files of a repository as the hub's own loader does: by the card's `configs`, else by
 * file names. A subset that cannot be read carries its `problem`, so that it does not hide the others. Where the loader and
 * a reader's interest part: a file that matches twice is read once, each subset has its own format, `data_dir` and
 * `data_files` work together, and files that match nothing are named.
 *
 * @param files every file of the repository
 * @param readme text of `README.md`, null where there is none
 * @param huggingfaceYaml text of `.huggingface.yaml`, whose keys go before those of the card
 * @param options.repository id of the repository; a script named after it makes the dataset unsupported
 * @throws HubError `hub_unsupported_dataset`
 */
export function resolveDataFiles(
  files: readonly RepositoryFile[],
  readme: string | null,
  huggingfaceYaml: string | null = null,
  options: { repository?: string } = {},
): DatasetLayout {
  return layOutFiles(files, parseDatasetCard(readme, huggingfaceYaml), options);
}

/** The same with a card that has been read. @throws HubError `hub_unsupported_dataset` */
export function layOutFiles(
  files: readonly RepositoryFile[],
  card: YamlMap,
  options: { repository?: string } = {},
): DatasetLayout {
  const script = `${options.repository?.split('/').at(-1)}.py`;
  if (options.repository !== undefined && files.some(({ path }) => path === script)) {
    throw unsupported(`The dataset needs its script ${script}, and scripts are not run`);
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

/**
 * The subset to read: the named one, else the only one, the one called `default`, or the one marked `default: true`.
 *
 * @throws HubError `hub_subset_not_found` with the names to choose from; the subset's own problem, where it has one
 */
export function chooseSubset(layout: DatasetLayout, name?: string): Subset {
  const available = layout.subsets.map((subset) => subset.name);
  const subset =
    name === undefined ? defaultSubset(layout) : layout.subsets.find((other) => other.name === name);
  if (subset === undefined) {
    const missing = name === undefined ? 'Name a subset' : `Subset ${shorten(name)} not found`;
    const shown =
      available.slice(0, 20).join(', ') + (available.length > 20 ? `, … (${available.length})` : '');
    throw new HubError('hub_subset_not_found', `${missing}: the dataset has ${shown}`, {
      details: { available },
    });
  }
  if (subset.problem !== null) throw subset.problem;
  return subset;
}

function defaultSubset(layout: DatasetLayout): Subset | undefined {
  if (layout.subsets.length === 1) return layout.subsets[0];
  const candidates = layout.subsets.filter((subset) => subset.name === 'default' || subset.markedDefault);
  if (candidates.length > 1) {
    const available = candidates.map(({ name }) => name);
    throw new HubError(
      'hub_subset_not_found',
      `Name a subset: the dataset has several defaults, ${available.slice(0, 20).join(' and ')}`,
      { details: { available } },
    );
  }
  return candidates[0];
}

/** The repository's files, sorted by path, with the work that matching may still do. */
interface FileIndex {
  files: RepositoryFile[];
  byPath: Map<string, RepositoryFile>;
  budget: MatchBudget;
}

function indexFiles(files: readonly RepositoryFile[]): FileIndex {
  const sorted = [...files].sort((a, b) => compareUtf8(a.path, b.path));
  return {
    files: sorted,
    byPath: new Map(sorted.map((file) => [file.path, file])),
    budget: { steps: MATCH_STEPS },
  };
}

function readConfigs(value: YamlValue | undefined): Map<string, YamlMap> {
  const configs = new Map<string, YamlMap>();
  if (value === undefined || value === null) return configs;
  if (!Array.isArray(value)) throw unsupported('The card\'s "configs" must be a list');
  for (const item of value) {
    const config = asMap(item);
    const name = config?.['config_name'];
    if (config === null || typeof name !== 'string' || name === '') {
      throw unsupported('Each of the card\'s "configs" must have a "config_name" that is a text');
    }
    configs.set(name, config);
  }
  return configs;
}

function readInfos(value: YamlValue | undefined): Map<string, YamlMap> {
  const infos = new Map<string, YamlMap>();
  for (const item of Array.isArray(value) ? value : [value]) {
    const info = asMap(item);
    if (info === null) continue;
    const name = info['config_name'];
    infos.set(typeof name === 'string' ? name : 'default', info);
  }
  return infos;
}

function buildSubset(
  name: string,
  config: YamlMap,
  repository: FileIndex,
  infos: Map<string, YamlMap>,
): Subset {
  const info =
    infos.get(name) ??
    (infos.size === 1 && config['config_name'] === undefined ? [...infos.values()][0]! : {});
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
  try {
    const found = findFiles(config, repository);
    subset.kind = agreedKind(found);
    const kind = subset.kind;
    const rows = declaredRows(info);
    subset.splits = [...found].map(([split, paths]) => ({
      name: split,
      files: paths.filter((path) => isOfKind(path, kind)).map((path) => repository.byPath.get(path)!),
      declaredRows: rows.get(split) ?? null,
    }));
    subset.format = readableFormat(kind, subset.splits);
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    subset.problem = error;
  }
  return subset;
}

function findFiles(config: YamlMap, repository: FileIndex): FoundSplits {
  const base = readBase(config['data_dir'] ?? null);
  const patterns = readPatterns(config['data_files'] ?? null);
  if (patterns === null) {
    const below = filesBelow(base, repository);
    // Every subset looks at all names, several times.
    spend(repository, below.length * STEPS_PER_NAME);
    const inside = below
      .map(({ path }) => path.slice(base.length))
      .filter((path) => isDataFile(path) && !NOT_DATA.has(baseName(path)) && !isHidden(path, ''));
    return new Map(
      [...findDefaultSplits(inside)].map(([split, paths]) => [split, paths.map((path) => base + path)]),
    );
  }
  return new Map(
    [...patterns].map(([split, list]) => [
      split,
      // A file that several patterns find is read once, where it was found first.
      [...new Set(list.flatMap((pattern) => matchPattern(base + relative(pattern), repository)))],
    ]),
  );
}

/** `data_dir` as the beginning of paths: empty, or a folder with its slash. */
function readBase(value: YamlValue): string {
  if (value === null || value === '') return '';
  if (typeof value !== 'string') throw unsupported('"data_dir" must be a text');
  const folder = relative(value);
  return folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
}

/** `data_files` as patterns by split; null where there is none. */
function readPatterns(value: YamlValue): Map<string, string[]> | null {
  if (value === null) return null;
  if (typeof value === 'string') return new Map([['train', [value]]]);
  const refused = unsupported('"data_files" must be a text, a list of texts, or a list of {split, path}');
  if (!Array.isArray(value)) throw refused;
  if (value.every((item) => typeof item === 'string')) return new Map([['train', value]]);
  const patterns = new Map<string, string[]>();
  for (const item of value) {
    const entry = asMap(item);
    const split = entry?.['split'];
    const path = entry?.['path'];
    const paths = Array.isArray(path) ? path : [path];
    if (entry === null || Object.keys(entry).length !== 2 || typeof split !== 'string') throw refused;
    if (!paths.every((text) => typeof text === 'string')) throw refused;
    if (!isSplitName(split)) throw unsupported(`${shorten(split)} cannot name a split`);
    if (patterns.has(split)) throw unsupported(`Split ${shorten(split)} stands twice in "data_files"`);
    patterns.set(split, paths);
  }
  return patterns;
}

/**
 * A path that stays inside the repository, without `.` parts. The card is a stranger's: what it names must not lead to other
 * hosts, other repositories or other files.
 */
function relative(path: string): string {
  if (
    /^[a-z][a-z0-9+.-]*:/i.test(path) ||
    path.includes('::') ||
    path.startsWith('/') ||
    path.includes('\\')
  ) {
    throw unsupported(`${shorten(path)} is not a path inside the repository`);
  }
  const parts = path
    .split('/')
    .filter((part, index, all) => part !== '.' && (part !== '' || index === all.length - 1));
  if (parts.includes('..')) throw unsupported(`${shorten(path)} leads out of the repository`);
  return parts.join('/');
}

/** Data files that a pattern finds, sorted by path. A path without wildcards must exist. */
function matchPattern(pattern: string, repository: FileIndex): string[] {
  const glob = pattern.length > MAX_PATTERN_LENGTH ? null : compileGlob(pattern);
  if (glob === null) throw unsupported(`${shorten(pattern)} is not a file pattern`);
  if (glob.literal) {
    if (!repository.byPath.has(pattern) || !isDataFile(pattern)) {
      throw unsupported(`Data file ${shorten(pattern)} not found`);
    }
    return [pattern];
  }
  const paths: string[] = [];
  for (const { path } of filesBelow(glob.literalPrefix, repository)) {
    spend(repository, STEPS_PER_MATCH);
    if (!glob.matches(path, repository.budget)) continue;
    const requested = !NOT_DATA.has(baseName(path)) || baseName(path) === baseName(pattern);
    if (isDataFile(path) && requested && !isHidden(path, pattern)) paths.push(path);
  }
  spend(repository, 0);
  return paths;
}

/** Takes steps from what may still be done. @throws HubError where nothing is left */
function spend({ budget }: FileIndex, steps: number): void {
  budget.steps -= steps;
  if (budget.steps < 0)
    throw unsupported('The subsets and patterns of the card are too many for so many files');
}

/** The files whose paths begin with a prefix; their number is taken from what may be done. */
function filesBelow(prefix: string, repository: FileIndex): RepositoryFile[] {
  const { files } = repository;
  spend(repository, 1);
  const first = firstWithPrefix(files, prefix);
  let end = first;
  while (end < files.length && files[end]!.path.startsWith(prefix)) end += 1;
  spend(repository, end - first);
  return files.slice(first, end);
}

function firstWithPrefix(files: readonly RepositoryFile[], prefix: string): number {
  let low = 0;
  let high = files.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareUtf8(files[middle]!.path, prefix) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a path has parts with a leading dot, or folders with two leading underscores, that the pattern does not ask for. */
function isHidden(path: string, pattern: string): boolean {
  const count = (text: string, start: string): number =>
    text
      .split('/')
      .filter((part, index, all) => part.startsWith(start) && (start === '.' || index < all.length - 1))
      .length;
  return count(path, '.') !== count(pattern, '.') || count(path, '__') !== count(pattern, '__');
}

/** The kind that all splits have. */
function agreedKind(found: FoundSplits): string {
  const kinds = [...found].map(([split, paths]) => ({ split, kind: inferKind(paths) }));
  const [first] = kinds;
  if (first === undefined || kinds.every(({ kind }) => kind === null))
    throw unsupported('There are no data files');
  const other = kinds.find(({ kind }) => kind !== first.kind);
  if (other !== undefined || first.kind === null) {
    const shown = kinds.map(({ split, kind }) => `${split}: ${kind ?? 'no files'}`).join(', ');
    throw unsupported(`The splits are of different kinds (${shown.slice(0, 200)})`);
  }
  return first.kind;
}

function readableFormat(kind: string, splits: readonly SubsetSplit[]): DataFormat {
  const format = formatOfKind(kind);
  if (format === null) throw unsupported(`Files of kind ${kind} are not read`);
  for (const { path } of splits.flatMap(({ files }) => files)) {
    const compression = compressionOf(path);
    if (compression === 'other' || (format === 'parquet' && compression !== null)) {
      throw unsupported(`File ${shorten(path)} is compressed in a way that is not read`);
    }
  }
  return format;
}

function declaredRows(info: YamlMap): Map<string, number> {
  const rows = new Map<string, number>();
  for (const item of Array.isArray(info['splits']) ? info['splits'] : []) {
    const split = asMap(item);
    const name = split?.['name'];
    const count = split?.['num_examples'];
    if (typeof name === 'string' && Number.isSafeInteger(count) && Number(count) >= 0)
      rows.set(name, Number(count));
  }
  return rows;
}

/** Files that belong to the repository, not to the data: the card, settings, what git and the hub keep. */
function servesRepository(path: string): boolean {
  return NOT_DATA.has(path) || path === 'eval.yaml' || path.split('/').some((part) => part.startsWith('.'));
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function unsupported(reason: string): HubError {
  return new HubError('hub_unsupported_dataset', reason);
}
