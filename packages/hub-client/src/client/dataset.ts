import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { type ByteSource, joinSignals } from '@svc/tabular';
import { HubError } from '../errors.ts';
import type { Requester } from '../http/requester.ts';
import { asMap, type YamlMap, type YamlValue } from '../repository/metadata.ts';
import { openRepository } from '../repository/open-repository.ts';
import { namedSplits, openTables, toHubError } from '../splits/open-tables.ts';
import { defaultSplit, parseSplit } from '../splits/split-slice.ts';
import {
  chooseSubset,
  type DatasetLayout,
  defaultSubsets,
  type Subset,
  type SubsetSplit,
} from '../splits/subset.ts';
import { DEFAULT_REVISION, openConverted, openSnapshot, type Snapshot } from './snapshot.ts';
import { createSplitReader, type HubSplit, type SplitReader } from './split-reader.ts';

/** Ignored files that are listed; their total is reported, too. */
const MAX_NAMED_FILES = 100;

/**
 * Describes a dataset, by the hub's metadata, then by the dataset card. `description`, `citation`, `homepage` and
 * `license` are always present, null if unknown; the others only if known.
 */
function describeDataset(
  about: Readonly<Record<string, unknown>>,
  card: YamlMap,
  ignoredFiles: readonly string[],
): JsonObject {
  const declared = asMap(firstOf(card['dataset_info'])) ?? {};
  const known = (key: string): JsonValue => {
    for (const value of [about[key], card[key], declared[key]]) {
      if (typeof value === 'string' && value.trim() !== '') return value.trim();
      if (Array.isArray(value) && value.length > 0) return value as JsonValue;
    }
    return null;
  };
  const info: JsonObject = {};
  for (const key of ['description', 'citation', 'homepage', 'license']) info[key] = known(key);
  for (const key of ['pretty_name', 'language', 'task_categories', 'size_categories', 'tags']) {
    const value = known(key);
    if (value !== null) info[key] = value;
  }
  if (typeof about['lastModified'] === 'string') info['last_modified'] = about['lastModified'];
  if (about['gated'] === 'auto' || about['gated'] === 'manual') info['gated'] = about['gated'];
  if (about['private'] === true) info['private'] = true;
  if (ignoredFiles.length > 0) {
    info['ignored_files'] = ignoredFiles.slice(0, MAX_NAMED_FILES);
    if (ignoredFiles.length > MAX_NAMED_FILES) info['ignored_files_total'] = ignoredFiles.length;
  }
  return info;
}

function firstOf(value: YamlValue | undefined): YamlValue {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** Which rows of a dataset to read. */
export interface SelectOptions {
  readonly subset?: string | undefined;
  /** Such as `train`, `train[:100]`, `train+test[10%:]`; default: the only split, else `train`, `test` or
   * `validation`. */
  readonly split?: string | undefined;
  /** Columns of text files whose values stay as they are written, whatever type they would have. */
  readonly textColumns?: ReadonlySet<string> | undefined;
  /**
   * Whether reading continues after lines of JSON Lines and rows of CSV that cannot be read: such rows have `unread`, and
   * batches of cells `invalid`. Default false.
   */
  readonly skipsInvalid?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A dataset at one commit. */
export interface HubDataset {
  /** Current id; you may have opened it by a former name. */
  readonly id: string;
  /** The requested revision, else `main`. */
  readonly revision: string;
  /** Commit at which everything is read. */
  readonly resolvedRevision: string;
  readonly subsets: readonly string[];
  /** Subset that is read by default; null if you must name one. */
  readonly defaultSubset: string | null;
  readonly splits: readonly HubSplit[];
  /** See `SplitReader.info`. */
  readonly info: JsonObject;
  /** Whether the files are the hub's Parquet export, because the dataset's own files cannot be read. */
  readonly usedConvertedParquet: boolean;
  /** Bytes of data files that have been received so far, for all slices. */
  readonly readBytes: number;
  /** Bytes of the data files of the selected splits, as the hub stores them. */
  readonly fileBytes: number;
  /**
   * Selects a slice of a subset and reads its columns.
   * @throws HubError `hub_subset_not_found`, `hub_split_not_found`, `invalid_split`, `hub_unsupported_dataset`,
   *   `invalid_row` if rows must be counted, and those of reading
   */
  select(options?: SelectOptions): Promise<SplitReader>;
}

/**
 * Resolves the revision to a commit, lists the files, reads the dataset card and finds subsets and splits. If the files of
 * the default branch cannot be read, the hub's Parquet export is read instead.
 */
export async function openDataset(requester: Requester, path: string, revision: string): Promise<HubDataset> {
  const repository = await openRepository(requester, path, revision);
  let converted: Promise<Snapshot | null> | undefined;
  const openExport = (card: DatasetLayout['card']): Promise<Snapshot | null> => {
    if (revision !== DEFAULT_REVISION) return Promise.resolve(null);
    converted ??= openConverted(requester, repository, card);
    return converted;
  };
  const { snapshot, evalYaml } = await openSnapshot(requester, repository, openExport);
  const { layout } = snapshot;
  const info = describeDataset(repository.about, layout.card, layout.ignoredFiles);

  /** The subset to read, of the Parquet export if the dataset's own files cannot be read. */
  const choose = async (name: string | undefined): Promise<{ subset: Subset; from: Snapshot }> => {
    try {
      return { subset: chooseSubset(layout, name), from: snapshot };
    } catch (error) {
      const canUseExport = isUnsupported(error) && !snapshot.isConverted;
      const from = canUseExport ? await openExport(layout.card) : null;
      if (from === null) throw error;
      return { subset: chooseSubset(from.layout, name), from };
    }
  };

  const received = { bytes: 0 };
  const selected = new Set<SubsetSplit>();
  let fileBytes = 0;
  return {
    id: repository.id,
    revision,
    resolvedRevision: repository.commit,
    subsets: layout.subsets.map(({ name }) => name),
    defaultSubset: defaultSubset(layout),
    splits: allSplits(layout),
    info,
    usedConvertedParquet: snapshot.isConverted,
    get readBytes() {
      return received.bytes;
    },
    get fileBytes() {
      return fileBytes;
    },
    async select(options = {}) {
      const { subset: name, split, signal, textColumns, skipsInvalid } = options;
      const { subset, from } = await choose(name);
      const expression = parseSplit(split ?? defaultSplit(subset.splits.map((each) => each.name)));
      const selectSignal = joinSignals(requester.context.signal, signal);
      const selecting = requester.with({ received, signal: selectSignal });
      for (const each of namedSplits(subset, expression)) {
        if (selected.has(each)) continue;
        selected.add(each);
        for (const { size } of each.files) fileBytes += size;
      }
      const open = (file: string): ByteSource => from.open(file, selecting);
      const reading = { textColumns, skipsInvalid, signal: selectSignal };
      const tables = await openTables(subset, expression, open, reading).catch((error: unknown) => {
        throw toHubError(error);
      });
      return createSplitReader(subset, expression, tables, {
        splits: allSplits(from.layout),
        info: from.isConverted ? withExport(info, subset, from) : info,
        evalYaml,
        signal: selectSignal,
      });
    },
  };
}

function isUnsupported(error: unknown): boolean {
  return error instanceof HubError && error.code === 'hub_unsupported_dataset';
}

function withExport(info: JsonObject, subset: Subset, from: Snapshot): JsonObject {
  const partial = subset.splits
    .map(({ name }) => name)
    .filter((name) => from.partialSplits.includes(`${subset.name}/${name}`));
  return {
    ...info,
    converted_parquet: true,
    converted_revision: from.commit,
    ...(partial.length === 0 ? {} : { partial }),
  };
}

/** A subset that cannot be read is the default only if there is no other. */
function defaultSubset(layout: DatasetLayout): string | null {
  const [subset, ...more] = defaultSubsets(layout);
  if (subset === undefined || more.length > 0) return null;
  return subset.problem === null || layout.subsets.length === 1 ? subset.name : null;
}

function allSplits({ subsets }: DatasetLayout): HubSplit[] {
  return subsets.flatMap(({ name, splits }) =>
    splits.map((split) => ({ subset: name, split: split.name, numRows: split.declaredRows })),
  );
}
