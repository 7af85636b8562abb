import { REQUEST_VALUES } from '@svc/client';
import { getRouteApi } from '@tanstack/react-router';
import {
  number,
  oneOf,
  searchParser,
  text,
  useChangeSearch,
  wholeNumber,
  withMetaFilters,
} from '../ui/search-params.ts';

export const RUN_STATUSES = REQUEST_VALUES['/runs'].status;

export const RESULTS = REQUEST_VALUES['/runs/{id}/results'];

/** What a verdict of people and one of a scorer, or of another person, can be together. */
export const AGREEMENT_CELLS = REQUEST_VALUES['/runs/{id}/agreement'].cell;

const COLUMNS_VIEW = { columns: text, widths: text, sort: text } as const;

export type RunsSearch = ReturnType<typeof parseRunsSearch>;

export const parseRunsSearch = searchParser({
  ...COLUMNS_VIEW,
  dataset: text,
  status: oneOf(...RUN_STATUSES),
  /** Part of the name, model or dataset. */
  q: text,
  /** Ids of the runs to compare, joined by commas. */
  chosen: text,
});

const PASSED: Readonly<Record<string, boolean>> = { true: true, false: false };

/** The bounds of the service for a blind sample. */
export const MAX_SAMPLE = 1_000;
export const MAX_SEED = 2_147_483_647;

const parseNamed = searchParser({
  ...COLUMNS_VIEW,
  tab: oneOf('results', 'charts', 'labels', 'configuration'),
  status: oneOf(...RESULTS.status),
  /** The scorer that `passed`, the bounds of the score and the charts are about; the main one by default. */
  scorer: text,
  passed: (stated) => PASSED[text(stated) ?? ''],
  min_score: number,
  max_score: number,
  min_latency: number,
  max_latency: number,
  min_output_tokens: number,
  max_output_tokens: number,
  min_cost: number,
  max_cost: number,
  /** What was read of the output, and the expected answer, whole. */
  got: text,
  expected: text,
  section: text,
  type: text,
  tag: text,
  finish_reason: text,
  output: oneOf(...RESULTS.output),
  error: text,
  /** The newest verdict of people. */
  label: oneOf(...RESULTS.label),
  /** The person whose labels alone count. */
  label_by: text,
  label_type: text,
  q: text,
  /** What the charts slice the scores by: a JSON Pointer into the items. */
  slice: text,
  /** The person whom `label_by` is compared with, in place of a scorer, and the cell that is listed. */
  other: text,
  cell: oneOf(...AGREEMENT_CELLS),
  /** Lists `n` results that only `seed` chooses, without what would tell whether they are right. */
  sample: oneOf(...RESULTS.sample),
  n: wholeNumber(1, MAX_SAMPLE),
  seed: wholeNumber(0, MAX_SEED),
  /** The open result: the hash of its item, with `.2` and so on for further repetitions. */
  result: text,
});

export const parseRunSearch = withMetaFilters(parseNamed);

export type RunSearch = ReturnType<typeof parseRunSearch>;

/** Reads the address of the page for a new run: a dataset and its version, or the run to copy. */
export const parseNewRunSearch = searchParser({ dataset: text, version: text, copy: text });

export const runRoute = getRouteApi('/runs/$id');

export const useChangeRun = () => useChangeSearch<RunSearch>(runRoute);
