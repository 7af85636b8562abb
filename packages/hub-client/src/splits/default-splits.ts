import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { shorten } from '@svc/tabular';
import { HubError } from '../errors.ts';
import { baseName } from './file-kind.ts';
import type { Pacer } from './pacer.ts';
import { isSplitName } from './split-slice.ts';

/** Splits found by file names, in order; paths in the order in which they are read. */
export type FoundSplits = Map<string, readonly string[]>;

// The words that name a split, best known first. Lower case only.
const KEYWORDS: Record<string, readonly string[]> = {
  train: ['train', 'training'],
  validation: ['validation', 'valid', 'dev', 'val'],
  test: ['test', 'testing', 'eval', 'evaluation'],
};
const SEPARATOR = '[-._ 0-9]';
const SHARDS = 'data/';
/** `-00000-of-00001`, anywhere. */
const SHARD = /(?=-[0-9]{5}-of-[0-9]{5})/g;
const SHARD_LENGTH = 15;

/** One way to tell a path's split: the order in which the loader would try its patterns. */
interface Rule {
  readonly split: string;
  readonly inDirectory: RegExp[];
  readonly inFileName: RegExp[];
}
const RULES: Rule[] = Object.entries(KEYWORDS).map(([split, words]) => ({
  split,
  inDirectory: words.flatMap((word) => [
    new RegExp(`^${word}$`),
    new RegExp(`^${word}${SEPARATOR}`),
    new RegExp(`${SEPARATOR}${word}$`),
    new RegExp(`${SEPARATOR}${word}${SEPARATOR}`),
  ]),
  inFileName: words.flatMap((word) => [
    new RegExp(`^${word}${SEPARATOR}`),
    new RegExp(`${SEPARATOR}${word}${SEPARATOR}`),
  ]),
}));
const ANY_KEYWORD = new RegExp(Object.values(KEYWORDS).flat().join('|'));

/**
 * The first of these rules of the hub's loader that finds anything decides, and leaves out other files:
 * `data/{split}-00000-of-00001*.*` (any split name), `*.eval` (split `logs`), folders named after a split, files named
 * after a split, and last everything as `train`.
 */
export async function findDefaultSplits(sorted: readonly string[], pace: Pacer): Promise<FoundSplits> {
  const sharded = await findSharded(sorted, pace);
  if (sharded.size > 0) return sharded;
  const logs = sorted.filter((path) => path.endsWith('.eval'));
  if (logs.length > 0) return new Map([['logs', logs]]);
  const byDirectory = await findByKeyword(sorted, (rule) => rule.inDirectory, directoryNames, pace);
  if (byDirectory.size > 0) return byDirectory;
  const byFileName = await findByKeyword(
    sorted,
    (rule) => rule.inFileName,
    (path) => [baseName(path)],
    pace,
  );
  if (byFileName.size > 0) return byFileName;
  return sorted.length > 0 ? new Map([['train', sorted]]) : new Map();
}

async function findSharded(sorted: readonly string[], pace: Pacer): Promise<FoundSplits> {
  const found = new Map<string, string[]>();
  await pace(sorted, (path) => {
    const split = splitOfShard(path);
    if (split === null) return;
    if (!isSplitName(split)) {
      throw new HubError(
        'hub_unsupported_dataset',
        `File ${shorten(path)} has an invalid split name, ${shorten(split)}.`,
      );
    }
    const paths = found.get(split);
    if (paths === undefined) found.set(split, [path]);
    else paths.push(path);
  });
  return new Map([...found].sort(([a], [b]) => compareSplits(a, b)));
}

/** Compares names of splits: train, validation and test come first. */
export function compareSplits(a: string, b: string): number {
  const known = Object.keys(KEYWORDS);
  const rank = (split: string): number => (known.includes(split) ? known.indexOf(split) : known.length);
  return rank(a) - rank(b) || compareUtf8(a, b);
}

/** The split of `data/{split}-00000-of-00001*.*`, in one pass, because names are untrusted input; null for any other path. */
function splitOfShard(path: string): string | null {
  const name = path.startsWith(SHARDS) ? path.slice(SHARDS.length) : '';
  const dot = name.lastIndexOf('.');
  if (dot === -1 || name.includes('/')) return null;
  let end = -1;
  for (const { index } of name.matchAll(SHARD)) if (index > 0 && index + SHARD_LENGTH <= dot) end = index;
  return end === -1 ? null : name.slice(0, end);
}

async function findByKeyword(
  sorted: readonly string[],
  patternsOf: (rule: Rule) => readonly RegExp[],
  namesOf: (path: string) => string[],
  pace: Pacer,
): Promise<FoundSplits> {
  // Paths are sorted by their first pattern, and keep their order if it is the same.
  const rules = RULES.map((rule) => ({
    split: rule.split,
    ranks: patternsOf(rule).map((pattern) => ({ pattern, paths: [] as string[] })),
  }));
  // Only a path's place is kept: there may be 100,000.
  await pace(sorted, (path) => {
    const names = namesOf(path).filter((name) => ANY_KEYWORD.test(name));
    if (names.length === 0) return;
    for (const { ranks } of rules) {
      ranks.find(({ pattern }) => names.some((name) => pattern.test(name)))?.paths.push(path);
    }
  });
  const found: FoundSplits = new Map();
  for (const { split, ranks } of rules) {
    const paths = ranks.flatMap((rank) => rank.paths);
    if (paths.length > 0) found.set(split, paths);
  }
  return found;
}

function directoryNames(path: string): string[] {
  return path.split('/').slice(0, -1);
}
