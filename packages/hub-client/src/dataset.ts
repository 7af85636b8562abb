import type { MappableFeature, Mapping } from '@svc/jsonl-v23';
import type { CellBatch } from '@svc/jsonl-v23/internal';
import type { JsonObject } from '@svc/jsonl-v23/json';
import {
  type ByteSource,
  type Features,
  joinSignals,
  mergeFeatures,
  openParquetTable,
  openTextTables,
  toMappable,
} from '@svc/tabular/internal';
import { HubError } from './errors.ts';
import type { RequestContext } from './http/request.ts';
import type { Requester } from './http/requester.ts';
import { featuresFromYaml } from './repository/card-features.ts';
import { parseDatasetCardApart } from './repository/dataset-card.ts';
import { describeDataset } from './repository/describe-dataset.ts';
import { openFile } from './repository/open-file.ts';
import { type ListedFile, listFiles, openRepository, type Repository } from './repository/open-repository.ts';
import { checkMetadata, type YamlMap } from './repository/parse-yaml.ts';
import { CONVERTED_REVISION, convertedLayout } from './splits/converted-parquet.ts';
import {
  chooseSubset,
  type DatasetLayout,
  layOutFiles,
  type Subset,
  type SubsetSplit,
} from './splits/data-files.ts';
import {
  defaultSplit,
  emptySelection,
  needsRowCounts,
  parseSplit,
  resolveSplit,
  type SplitExpression,
  type SplitRange,
} from './splits/split-slice.ts';
import { suggestMapping } from './splits/suggest-mapping.ts';
import { type SplitTable, toHubError, withHubErrors } from './table-errors.ts';

/** Branch that is read where none is named; the only one of which the hub keeps Parquet copies. */
export const DEFAULT_REVISION = 'main';

/** A split, and its rows where somebody has counted them. */
export interface HubSplit {
  subset: string;
  split: string;
  numRows: number | null;
}

/** A row with its place, in JSON form. */
export interface HubRow {
  row: JsonObject;
  /** 0-based, in its split. */
  rowIndex: number;
  split: string;
}

export interface ReadRowsOptions {
  /** Only these columns are read; all where absent. */
  columns?: readonly string[] | undefined;
  /** Rows at most. */
  limit?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A dataset at one commit. */
export interface HubDataset {
  /** Current id; the name that was asked for may be a former one. */
  readonly id: string;
  /** As it was asked for, else `main`. */
  readonly revision: string;
  /** Commit that everything is read at. */
  readonly resolvedRevision: string;
  readonly subsets: readonly string[];
  /** Subset that is read where none is named; null where one must be named. */
  readonly defaultSubset: string | null;
  readonly splits: readonly HubSplit[];
  /** See `SplitReader.info`. */
  readonly info: JsonObject;
  /** Whether the files are the hub's own Parquet copies, because those of the dataset cannot be read. */
  readonly usedConvertedParquet: boolean;
  /**
   * Chooses a slice of a subset and looks at its columns.
   * @param choice.split such as `train`, `train[:100]`, `train+test[10%:]`; absent: the only one, else `train`
   * @throws HubError `hub_subset_not_found`, `hub_split_not_found`, `invalid_split`, `hub_unsupported_dataset`,
   *   `invalid_row` where rows must be counted, and those of reading
   */
  select(choice?: {
    subset?: string | undefined;
    split?: string | undefined;
    signal?: AbortSignal | undefined;
  }): Promise<SplitReader>;
}

/** A slice of one subset, with what is known of it before a row is read. */
export interface SplitReader {
  readonly subset: string;
  /** The split expression. */
  readonly split: string;
  readonly features: readonly MappableFeature[];
  /** Rows of the slice; null where only reading the data would tell. */
  readonly numRows: number | null;
  /** All splits of all subsets. */
  readonly splits: readonly HubSplit[];
  /**
   * `description`, `citation`, `homepage`, `license` (null where unknown); where known `pretty_name`, `language`, `tags`,
   * `ignored_files` (of no split), `class_labels` (column to names), `converted_parquet`, `converted_revision`, `partial`.
   */
  readonly info: JsonObject;
  readonly suggestedMapping: Mapping | null;
  /** The row at which looking for columns ended early, because it cannot be read; absent where there is none. */
  readonly unreadRow?: HubError | undefined;
  /**
   * The rows in order, some at a time; the next ones download while these are used.
   * @throws HubError `invalid_row` with file and line, `invalid_split` where the slice turns out to be empty, and those of
   *   reading
   */
  rowBatches(options?: ReadRowsOptions): AsyncGenerator<HubRow[], void, undefined>;
  /**
   * The same rows as the canonical JSON texts of their cells, which make items several times as fast.
   * @throws as `rowBatches`
   */
  cellBatches(options?: ReadRowsOptions): AsyncGenerator<CellBatch, void, undefined>;
  /** The rows in order. */
  rows(options?: ReadRowsOptions): AsyncGenerator<HubRow, void, undefined>;
}

/** Parquet files of one split that are all looked at for rows and columns that the dataset card does not tell. */
const MAX_COUNTED_FILES = 32;
/** Metadata stands at the beginning of a card, and the largest known ones have some 100 KiB. */
const MAX_CARD_BYTES = 4 * 1024 * 1024;
/** Known ones have some hundred bytes; a longer one is worth less than the time to read it. */
const MAX_EVAL_LENGTH = 16 * 1024;

/** A repository and the files of it that are read. */
interface Snapshot {
  repository: Pick<Repository, 'id' | 'commit'>;
  files: ReadonlyMap<string, ListedFile>;
  layout: DatasetLayout;
  /** Splits of which the copy holds the first rows only. */
  partialSplits: readonly string[];
  converted: boolean;
}

/**
 * Opens a dataset: resolves the revision to a commit, lists the files, reads the dataset card and finds subsets and splits.
 * Where the files of the default branch cannot be read, the hub's Parquet copies take their place.
 */
export async function openDataset(
  requester: Requester,
  path: string,
  revision: string,
  context: RequestContext,
): Promise<HubDataset> {
  const repository = await openRepository(requester, path, revision, context);
  const listed = await listFiles(requester, repository, context);
  const files = new Map(listed.map((file) => [file.path, file]));
  const read = (name: string): Promise<string | null> =>
    readText(requester, repository, files.get(name), context);
  const known = cardOf(repository);
  const [readme, huggingfaceYaml, evalYaml] = await Promise.all([
    known === null ? read('README.md') : null,
    read('.huggingface.yaml'),
    read('eval.yaml').then((text) => (text === null || text.length > MAX_EVAL_LENGTH ? null : text)),
  ]);

  let copies: Promise<Snapshot | null> | undefined;
  const openCopies = (card: DatasetLayout['card']): Promise<Snapshot | null> => {
    if (revision !== DEFAULT_REVISION) return Promise.resolve(null);
    copies ??= openConverted(requester, repository, card, context);
    return copies;
  };
  let snapshot: Snapshot;
  try {
    if (known !== null) checkMetadata(known, 'README.md');
    const card = { ...known, ...(await parseDatasetCardApart(readme, huggingfaceYaml)) };
    const layout = layOutFiles(listed, card, { repository: repository.id });
    snapshot = { repository, files, layout, partialSplits: [], converted: false };
  } catch (error) {
    const found = isUnsupported(error) ? await openCopies({}) : null;
    if (found === null) throw error;
    snapshot = found;
  }
  const { layout } = snapshot;
  const info = describeDataset(repository.about, layout.card, layout.ignoredFiles);

  /** The subset to read, of the hub's copies where the dataset's own files cannot be. */
  async function choose(name: string | undefined): Promise<{ subset: Subset; from: Snapshot }> {
    try {
      return { subset: chooseSubset(layout, name), from: snapshot };
    } catch (error) {
      const found = isUnsupported(error) && !snapshot.converted ? await openCopies(layout.card) : null;
      if (found === null) throw error;
      return { subset: chooseSubset(found.layout, name), from: found };
    }
  }

  return {
    id: repository.id,
    revision,
    resolvedRevision: repository.commit,
    subsets: layout.subsets.map(({ name }) => name),
    defaultSubset: defaultName(layout),
    splits: allSplits(layout),
    info,
    usedConvertedParquet: snapshot.converted,
    async select({ subset: name, split, signal } = {}) {
      const { subset, from } = await choose(name);
      const expression = parseSplit(split ?? defaultSplit(subset.splits.map((one) => one.name)));
      const selecting = { ...context, signal: joinSignals(context.signal, signal) };
      const open = (path: string): ByteSource =>
        openListed(requester, from.repository, from.files.get(path)!, selecting);
      const sources = await openSources(subset, expression, open, selecting.signal).catch(
        (error: unknown) => {
          throw toHubError(error);
        },
      );
      return describeSelection(subset, expression, sources, {
        splits: allSplits(from.layout),
        info: from.converted ? withCopy(info, subset, from) : info,
        evalYaml,
      });
    },
  };
}

/**
 * The dataset card's metadata as the hub itself has read it, which saves asking for the file. It is the default branch's
 * card; where it says nothing about files, it may be a part of what the card says.
 */
function cardOf({ revision, about }: Repository): YamlMap | null {
  const card = about['cardData'];
  if (revision !== DEFAULT_REVISION || typeof card !== 'object' || card === null) return null;
  const { configs, dataset_info: info } = card as Record<string, unknown>;
  return configs || info ? (card as YamlMap) : null;
}

function isUnsupported(error: unknown): boolean {
  return error instanceof HubError && error.code === 'hub_unsupported_dataset';
}

/** The hub's Parquet copies; null where it has made none. */
async function openConverted(
  requester: Requester,
  repository: Repository,
  card: DatasetLayout['card'],
  context: RequestContext,
): Promise<Snapshot | null> {
  try {
    const copy = await openRepository(requester, repository.id, CONVERTED_REVISION, context);
    const listed = await listFiles(requester, copy, context);
    const { layout, partialSplits } = convertedLayout(listed, card);
    if (layout.subsets.length === 0) return null;
    const files = new Map(listed.map((file) => [file.path, file]));
    return { repository: copy, files, layout, partialSplits, converted: true };
  } catch (error) {
    if (error instanceof HubError && error.code === 'hub_revision_not_found') return null;
    throw error;
  }
}

function withCopy(info: JsonObject, subset: Subset, from: Snapshot): JsonObject {
  const partial = subset.splits
    .map(({ name }) => name)
    .filter((name) => from.partialSplits.includes(`${subset.name}/${name}`));
  return {
    ...info,
    converted_parquet: true,
    converted_revision: from.repository.commit,
    ...(partial.length === 0 ? {} : { partial }),
  };
}

function defaultName(layout: DatasetLayout): string | null {
  try {
    return chooseSubset(layout).name;
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    const [only, more] = layout.subsets;
    return more === undefined ? (only?.name ?? null) : null;
  }
}

function allSplits({ subsets }: DatasetLayout): HubSplit[] {
  return subsets.flatMap(({ name, splits }) =>
    splits.map((split) => ({ subset: name, split: split.name, numRows: split.declaredRows })),
  );
}

function openListed(
  requester: Requester,
  repository: Pick<Repository, 'id' | 'commit'>,
  { path, size, sha256 }: ListedFile,
  context: RequestContext,
): ByteSource {
  const location = { dataset: repository.id, commit: repository.commit, path, byteLength: size, sha256 };
  return openFile(requester, location, context);
}

/** A text file of the repository, its first megabytes where it is very long; null where there is none. */
async function readText(
  requester: Requester,
  repository: Repository,
  file: ListedFile | undefined,
  context: RequestContext,
): Promise<string | null> {
  if (file === undefined) return null;
  const bytes = await openListed(requester, repository, file, context).readRange(
    0,
    Math.min(file.size, MAX_CARD_BYTES),
  );
  return new TextDecoder().decode(bytes);
}

/** Opens the splits that an expression names, by the format of their subset. */
async function openSources(
  subset: Subset,
  expression: SplitExpression,
  open: (path: string) => ByteSource,
  signal: AbortSignal | undefined,
): Promise<Map<string, SplitTable>> {
  const named = expression.all
    ? subset.splits
    : expression.parts.map((part) => subset.splits.find(({ name }) => name === part.split));
  if (named.includes(undefined)) {
    // Asked without counts it says which name is unknown before it says that counts are missing.
    resolveSplit(
      expression,
      subset.splits.map(({ name }) => ({ name })),
    );
  }
  const splits = new Map(named.filter((split) => split !== undefined).map((split) => [split.name, split]));
  const files = (split: SubsetSplit): ByteSource[] => split.files.map(({ path }) => open(path));
  const declared = featuresFromYaml(subset.declaredFeatures);
  const counted = needsRowCounts(expression);

  if (subset.format !== 'parquet') {
    const tables = await openTextTables(new Map([...splits].map(([name, split]) => [name, files(split)])), {
      format: subset.format!,
      params: subset.params,
      declared,
      count: new Set(counted ? splits.keys() : []),
      signal,
    });
    return new Map([...tables].map(([name, table]) => [name, withHubErrors(table)]));
  }
  const starts = expression.parts.some(({ from }) => from !== null && from !== 0n);
  const sources = new Map<string, SplitTable>();
  for (const [name, split] of splits) {
    const told = split.declaredRows !== null && declared !== null;
    const everyFooter = counted || starts || (!told && split.files.length <= MAX_COUNTED_FILES);
    sources.set(name, withHubErrors(await openParquetTable(files(split), { declared, everyFooter, signal })));
  }
  return sources;
}

function describeSelection(
  subset: Subset,
  expression: SplitExpression,
  sources: ReadonlyMap<string, SplitTable>,
  known: { splits: readonly HubSplit[]; info: JsonObject; evalYaml: string | null },
): SplitReader {
  const counts = new Map([...sources].map(([name, { rowCount }]) => [name, rowCount ?? undefined]));
  const ranges = resolveSplit(
    expression,
    subset.splits.map(({ name }) => ({ name, numRows: counts.get(name) })),
  );
  const features = mergeFeatures([...sources.values()].map((source) => source.features));
  const mappable = features.map(toMappable);
  const first = expression.parts[0]?.split;
  const columnsOf = (options: ReadRowsOptions): readonly string[] =>
    options.columns ?? features.map(({ name }) => name);
  async function* rowBatches(options: ReadRowsOptions = {}): AsyncGenerator<HubRow[], void, undefined> {
    const batches = readRanges(expression, ranges, sources, options, (source, { from, to, signal }) =>
      source.read({ from, to, columns: columnsOf(options), signal }),
    );
    for await (const { batch, split } of batches) {
      const { firstRow, rows } = batch;
      yield rows.map((row, index) => ({ row, rowIndex: firstRow + index, split }));
    }
  }
  async function* cellBatches(options: ReadRowsOptions = {}): AsyncGenerator<CellBatch, void, undefined> {
    const columns = columnsOf(options);
    const batches = readRanges(expression, ranges, sources, options, (source, { from, to, signal }) =>
      source.readCells({ from, to, columns, signal }),
    );
    for await (const { batch, split } of batches) yield { ...batch, split, columns };
  }
  return {
    subset: subset.name,
    split: expression.text,
    features: mappable,
    numRows: countSelected(subset, ranges, sources),
    splits: known.splits.map((split) => {
      const numRows = split.subset === subset.name ? counts.get(split.split) : undefined;
      return { ...split, numRows: numRows ?? split.numRows };
    }),
    info: { ...known.info, ...classLabels(features) },
    suggestedMapping: suggestMapping(mappable, known.evalYaml, {
      subset: subset.name,
      ...(first === undefined ? {} : { split: first }),
    }),
    unreadRow: [...sources.values()].find((source) => source.unreadRow !== undefined)?.unreadRow,
    rowBatches,
    cellBatches,
    async *rows(options) {
      for await (const batch of rowBatches(options)) yield* batch;
    },
  };
}

function classLabels(features: Features): JsonObject {
  const labels = features.flatMap(
    ({ name, feature }): Array<[string, string[]]> =>
      feature.kind === 'class_label' ? [[name, [...feature.names]]] : [],
  );
  return labels.length === 0 ? {} : { class_labels: Object.fromEntries(labels) };
}

/** Rows of the slice, by what was counted, else by what the dataset card claims; null where neither tells. */
function countSelected(
  subset: Subset,
  ranges: readonly SplitRange[],
  sources: ReadonlyMap<string, SplitTable>,
): number | null {
  let sum = 0;
  for (const { split, from, to } of ranges) {
    const { rowCount, atLeastRows } = sources.get(split)!;
    const claimed = subset.splits.find(({ name }) => name === split)?.declaredRows ?? null;
    const count = rowCount ?? (claimed === null ? null : Math.max(claimed, atLeastRows));
    if (count === null && (to === null || to > atLeastRows)) return null;
    const end = to === null ? count! : Math.min(to, count ?? to);
    sum += Math.max(0, end - from);
  }
  return sum;
}

/** The batches of all ranges in order, each with its split. */
async function* readRanges<T extends { rows: readonly unknown[] } | { rowCount: number }>(
  expression: SplitExpression,
  ranges: readonly SplitRange[],
  sources: ReadonlyMap<string, SplitTable>,
  { limit = Number.POSITIVE_INFINITY, signal }: ReadRowsOptions,
  read: (
    source: SplitTable,
    range: { from: number; to: number | null; signal: AbortSignal | undefined },
  ) => AsyncGenerator<T>,
): AsyncGenerator<{ batch: T; split: string }, void, undefined> {
  let given = 0;
  for (const { split, from, to } of ranges) {
    if (given >= limit) return;
    const end = Number.isFinite(limit) ? Math.min(to ?? Number.POSITIVE_INFINITY, from + limit - given) : to;
    const source = sources.get(split)!;
    for await (const batch of read(source, { from, to: end, signal })) {
      signal?.throwIfAborted();
      given += 'rows' in batch ? batch.rows.length : batch.rowCount;
      yield { batch, split };
    }
  }
  signal?.throwIfAborted();
  if (given > 0 || limit <= 0) return;
  // Where nobody had counted, only now it shows that the slice lies behind the last row.
  for (const { split, from } of ranges) {
    if (from === 0) continue;
    for await (const batch of sources.get(split)!.read({ from: 0, to: 1, columns: [], signal })) {
      if (batch.rows.length > 0) throw emptySelection(expression);
    }
  }
}
