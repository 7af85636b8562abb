import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { shorten } from '@svc/tabular';
import type { YamlMap } from '../repository/metadata.ts';
import { readBase, readPatterns, relativePath } from './card-config.ts';
import { type FoundSplits, findDefaultSplits } from './default-splits.ts';
import { baseName, isDataFile } from './file-kind.ts';
import { compileGlob, type MatchBudget } from './glob.ts';
import { createPacer, type Pacer } from './pacer.ts';
import { type RepositoryFile, unsupported } from './subset.ts';

/** Data only if a pattern names them. */
const NOT_DATA = new Set([
  'README.md',
  'config.json',
  'dataset_info.json',
  'dataset_infos.json',
  'dummy_data.zip',
  'dataset_dict.json',
]);
/** Costs of testing and of splitting a name, in steps of matching. */
const STEPS_PER_MATCH = 10;
const STEPS_PER_NAME = 150;
const MAX_PATTERN_LENGTH = 1024;
/** Steps of a fifth of a second; a repository of 100,000 files needs a few million. */
const MATCH_STEPS = 20_000_000;

/** The files of a repository, sorted by path, and the bounds for work on their names. */
export interface FileIndex {
  readonly files: readonly RepositoryFile[];
  readonly byPath: ReadonlyMap<string, RepositoryFile>;
  readonly budget: MatchBudget;
  readonly pace: Pacer;
}

export async function indexFiles(byPath: ReadonlyMap<string, RepositoryFile>): Promise<FileIndex> {
  const pace = createPacer();
  const files = await sortByPath([...byPath.values()], pace);
  return { files, byPath, budget: { steps: MATCH_STEPS }, pace };
}

/** Files that are sorted without a pause. */
const RUN_LENGTH = 1024;

/** Sorts in slices of the thread's time: a merge sort, because `sort` has no pauses. */
async function sortByPath(files: readonly RepositoryFile[], pace: Pacer): Promise<readonly RepositoryFile[]> {
  const compare = (a: RepositoryFile, b: RepositoryFile): number => compareUtf8(a.path, b.path);
  let runs: (readonly RepositoryFile[])[] = [];
  for (let at = 0; at < files.length; at += RUN_LENGTH) {
    await pace([files.slice(at, at + RUN_LENGTH)], (run) => runs.push(run.sort(compare)));
  }
  while (runs.length > 1) {
    const merged: (readonly RepositoryFile[])[] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const into: RepositoryFile[] = [];
      await pace(mergeRuns(runs[at] ?? [], runs[at + 1] ?? [], compare), (file) => into.push(file));
      merged.push(into);
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergeRuns<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<T> {
  let at = 0;
  for (const value of left) {
    for (; at < right.length && compare(right[at] as T, value) < 0; at += 1) yield right[at] as T;
    yield value;
  }
  for (; at < right.length; at += 1) yield right[at] as T;
}

/** The paths of each split of a subset: by the patterns of its configuration, else by file names. */
export async function findFiles(config: YamlMap, repository: FileIndex): Promise<FoundSplits> {
  const base = readBase(config['data_dir'] ?? null);
  const patterns = readPatterns(config['data_files'] ?? null);
  return patterns === null
    ? await findByNames(base, repository)
    : await findByPatterns(base, patterns, repository);
}

async function findByNames(base: string, repository: FileIndex): Promise<FoundSplits> {
  const { pace } = repository;
  const below = filesBelow(base, repository);
  // Each subset tests all names, several times.
  spend(repository, below.length * STEPS_PER_NAME);
  const inside: string[] = [];
  await pace(below, (file) => {
    const path = file.path.slice(base.length);
    if (isDataFile(path) && !NOT_DATA.has(baseName(path)) && !isHidden(path, '')) inside.push(path);
  });
  const found: FoundSplits = new Map();
  for (const [split, names] of await findDefaultSplits(inside, pace)) {
    const paths: string[] = [];
    await pace(names, (name) => paths.push(base + name));
    found.set(split, paths);
  }
  return found;
}

async function findByPatterns(
  base: string,
  patterns: ReadonlyMap<string, readonly string[]>,
  repository: FileIndex,
): Promise<FoundSplits> {
  const found: FoundSplits = new Map();
  for (const [split, list] of patterns) {
    // A file that several patterns match is read once, at its first place.
    const paths = new Set<string>();
    for (const pattern of list) await matchPattern(base + relativePath(pattern), repository, paths);
    found.set(split, [...paths]);
  }
  return found;
}

/** Adds the data files that match a pattern, sorted by path. A path without wildcards must exist. */
async function matchPattern(pattern: string, repository: FileIndex, found: Set<string>): Promise<void> {
  const glob = pattern.length > MAX_PATTERN_LENGTH ? null : compileGlob(pattern);
  if (glob === null) throw unsupported(`${shorten(pattern)} is not a file pattern.`);
  if (glob.literal) {
    if (!repository.byPath.has(pattern) || !isDataFile(pattern)) {
      throw unsupported(`Data file ${shorten(pattern)} not found.`);
    }
    found.add(pattern);
    return;
  }
  await repository.pace(filesBelow(glob.literalPrefix, repository), ({ path }) => {
    spend(repository, STEPS_PER_MATCH);
    if (!glob.matches(path, repository.budget)) return;
    const requested = !NOT_DATA.has(baseName(path)) || baseName(path) === baseName(pattern);
    if (isDataFile(path) && requested && !isHidden(path, pattern)) found.add(path);
  });
  spend(repository, 0);
}

/** Takes steps from the budget. @throws HubError `hub_unsupported_dataset` if it is used up */
function spend({ budget }: FileIndex, steps: number): void {
  budget.steps -= steps;
  if (budget.steps < 0) {
    throw unsupported('The card has too many subsets and patterns for this number of files.');
  }
}

/** The files whose paths begin with a prefix; their number is taken from the budget. */
function filesBelow(prefix: string, repository: FileIndex): RepositoryFile[] {
  const { files } = repository;
  spend(repository, 1);
  const first = firstWithPrefix(files, prefix);
  let end = first;
  while (files[end]?.path.startsWith(prefix) === true) end += 1;
  spend(repository, end - first);
  return files.slice(first, end);
}

function firstWithPrefix(files: readonly RepositoryFile[], prefix: string): number {
  let low = 0;
  let high = files.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareUtf8(files[middle]?.path ?? '', prefix) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a path has parts with a leading dot, or folders with two leading underscores, that the pattern does not name. */
function isHidden(path: string, pattern: string): boolean {
  const count = (text: string, start: string): number =>
    text
      .split('/')
      .filter((part, index, all) => part.startsWith(start) && (start === '.' || index < all.length - 1))
      .length;
  return count(path, '.') !== count(pattern, '.') || count(path, '__') !== count(pattern, '__');
}

/** Whether a file belongs to the repository and not to the data: the card, settings, files of git and the hub. */
export function servesRepository(path: string): boolean {
  return NOT_DATA.has(path) || path === 'eval.yaml' || path.split('/').some((part) => part.startsWith('.'));
}
