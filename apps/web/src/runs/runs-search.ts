import { oneOf, type RawSearch, textOf } from '../ui/search-params.ts';
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

export const RUN_TABS = ['results', 'charts', 'configuration'] as const;

/** What the address of the list of runs states. */
export interface RunsSearch extends ColumnsView {
  readonly dataset?: string;
  readonly status?: (typeof RUN_STATUSES)[number];
  /** Part of the name, model or dataset. */
  readonly q?: string;
  /** Ids of the runs to compare, joined by commas. */
  readonly chosen?: string;
}

/** What the address of a run's page states. */
export interface RunSearch extends ColumnsView {
  readonly tab?: (typeof RUN_TABS)[number];
  readonly status?: (typeof RESULT_STATUSES)[number];
  readonly passed?: boolean;
  readonly section?: string;
  readonly type?: string;
  readonly tag?: string;
  readonly finish_reason?: string;
  /** Name of a group of errors. */
  readonly error?: string;
  readonly q?: string;
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

const PASSED: Readonly<Record<string, boolean>> = { true: true, false: false };

/** Reads the address of a run's page; what it does not know is left out. */
export function parseRunSearch(search: RawSearch): RunSearch {
  return {
    tab: oneOf(search, 'tab', RUN_TABS),
    status: oneOf(search, 'status', RESULT_STATUSES),
    passed: PASSED[textOf(search, 'passed') ?? ''],
    section: textOf(search, 'section'),
    type: textOf(search, 'type'),
    tag: textOf(search, 'tag'),
    finish_reason: textOf(search, 'finish_reason'),
    error: textOf(search, 'error'),
    q: textOf(search, 'q'),
    ...columnsView(search),
    result: textOf(search, 'result'),
  };
}

/** What the address of the page for a new run states: a dataset and its version, or the run to copy. */
export interface NewRunSearch {
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
