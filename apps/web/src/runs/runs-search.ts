import { pointerOf } from '../ui/pointer-of.ts';
import { indexOf, numberOf, oneOf, type RawSearch, textOf } from '../ui/search-params.ts';
import type { ColumnsView } from '../ui/table/view-columns.ts';

export const RUN_STATUSES = [
  'queued',
  'running',
  'completed',
  'failed',
  'cancelling',
  'cancelled',
  'stopped',
] as const;
export const RESULT_STATUSES = ['ok', 'failed', 'unscored'] as const;

const RESULT_LABELS = ['pass', 'fail', 'none'] as const;

/** What an output can lack. */
export const RESULT_OUTPUTS = ['empty', 'unreadable'] as const;

export const RUN_TABS = ['results', 'charts', 'labels', 'configuration'] as const;

/** What a verdict of people and one of a scorer, or of another person, can be together. */
export const AGREEMENT_CELLS = ['both_pass', 'both_fail', 'false_pass', 'false_fail'] as const;

/** What the address of the list of runs states. */
export interface RunsSearch extends ColumnsView {
  readonly dataset?: string;
  readonly status?: (typeof RUN_STATUSES)[number];
  /** Part of the name, model or dataset. */
  readonly q?: string;
  /** Ids of the runs to compare, joined by commas. */
  readonly chosen?: string;
}

/** Values that the metadata of items must have, by `meta.` and a JSON Pointer into it, as the API takes them. */
interface MetaFilters {
  readonly [name: `meta.${string}`]: string | undefined;
}

/** What the address of a run's page states. */
export interface RunSearch extends ColumnsView, MetaFilters {
  readonly tab?: (typeof RUN_TABS)[number];
  readonly status?: (typeof RESULT_STATUSES)[number];
  /** The scorer that `passed`, the bounds of the score and the charts are about; the main one by default. */
  readonly scorer?: string;
  readonly passed?: boolean;
  readonly min_score?: number;
  readonly max_score?: number;
  readonly section?: string;
  readonly type?: string;
  readonly tag?: string;
  readonly finish_reason?: string;
  readonly output?: (typeof RESULT_OUTPUTS)[number];
  /** Name of a group of errors. */
  readonly error?: string;
  /** The newest verdict of people. */
  readonly label?: (typeof RESULT_LABELS)[number];
  /** The person whose labels alone count. */
  readonly label_by?: string;
  readonly label_type?: string;
  readonly q?: string;
  /** What the charts slice the scores by: JSON Pointers into the items. */
  readonly slice?: string;
  readonly slice_and?: string;
  /** The person whom `label_by` is compared with, in place of a scorer, and the cell that is listed. */
  readonly other?: string;
  readonly cell?: (typeof AGREEMENT_CELLS)[number];
  /** Lists `n` results that only `seed` chooses, without what would tell whether they are right. */
  readonly sample?: 'blind';
  readonly n?: number;
  readonly seed?: number;
  /** The open result: the hash of its item, with `.2` and so on for further repetitions. */
  readonly result?: string;
}

/** What the address states of the columns of a table. */
const columnsView = (search: RawSearch): ColumnsView => ({
  columns: textOf(search, 'columns'),
  widths: textOf(search, 'widths'),
  pinned: textOf(search, 'pinned'),
  sort: textOf(search, 'sort'),
});

/** Reads the address of the list of runs; what it does not know is left out. */
export function parseRunsSearch(search: RawSearch): RunsSearch {
  return {
    dataset: textOf(search, 'dataset'),
    status: oneOf(search, 'status', RUN_STATUSES),
    q: textOf(search, 'q'),
    ...columnsView(search),
    chosen: textOf(search, 'chosen'),
  };
}

/** Values of metadata that one list can be filtered by. */
const MAX_META = 8;

/** The filter of the value of a member of the metadata. */
export const metaFilter = (key: string, value: string): MetaFilters => ({ [metaName(key)]: value });

/** The name in an address of the value that a member of the metadata must have. */
const metaName = (key: string): `meta.${string}` => `meta.${pointerOf(key)}`;

const PASSED: Readonly<Record<string, boolean>> = { true: true, false: false };

/** The bounds of the service for a blind sample. */
export const MAX_SAMPLE = 1_000;
export const MAX_SEED = 2_147_483_647;

function boundedOf(search: RawSearch, name: string, least: number, most: number): number | undefined {
  const value = indexOf(search, name);
  return value === undefined || value < least || value > most ? undefined : value;
}

/** Reads the address of a run's page; what it does not know is left out. */
export function parseRunSearch(search: RawSearch): RunSearch {
  return {
    tab: oneOf(search, 'tab', RUN_TABS),
    status: oneOf(search, 'status', RESULT_STATUSES),
    scorer: textOf(search, 'scorer'),
    passed: PASSED[textOf(search, 'passed') ?? ''],
    min_score: numberOf(search, 'min_score'),
    max_score: numberOf(search, 'max_score'),
    section: textOf(search, 'section'),
    type: textOf(search, 'type'),
    tag: textOf(search, 'tag'),
    finish_reason: textOf(search, 'finish_reason'),
    output: oneOf(search, 'output', RESULT_OUTPUTS),
    error: textOf(search, 'error'),
    label: oneOf(search, 'label', RESULT_LABELS),
    label_by: textOf(search, 'label_by'),
    label_type: textOf(search, 'label_type'),
    q: textOf(search, 'q'),
    ...Object.fromEntries(
      Object.keys(search)
        .filter((name) => name.startsWith('meta.'))
        .slice(0, MAX_META)
        .map((name) => [name, textOf(search, name)]),
    ),
    ...columnsView(search),
    slice: textOf(search, 'slice'),
    slice_and: textOf(search, 'slice_and'),
    other: textOf(search, 'other'),
    cell: oneOf(search, 'cell', AGREEMENT_CELLS),
    sample: oneOf(search, 'sample', ['blind'] as const),
    n: boundedOf(search, 'n', 1, MAX_SAMPLE),
    seed: boundedOf(search, 'seed', 0, MAX_SEED),
    result: textOf(search, 'result'),
  };
}

/** What the address of the page for a new run states: a dataset and its version, or the run to copy. */
interface NewRunSearch {
  readonly dataset?: string;
  readonly version?: string;
  readonly copy?: string;
}

/** Reads the address of the page for a new run; what it does not know is left out. */
export function parseNewRunSearch(search: RawSearch): NewRunSearch {
  return {
    dataset: textOf(search, 'dataset'),
    version: textOf(search, 'version'),
    copy: textOf(search, 'copy'),
  };
}
