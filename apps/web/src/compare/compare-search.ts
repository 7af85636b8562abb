import { REQUEST_VALUES } from '@svc/client';
import { getRouteApi } from '@tanstack/react-router';
import { oneOf, searchParser, text, useChangeSearch, wholeNumber } from '../ui/search-params.ts';

/** What quality is drawn against. */
export const MEASURES = ['cost', 'latency', 'tokens'] as const;

export const ONLY = REQUEST_VALUES['/runs/{id}/compare/{other_id}'].only;

export type CompareSearch = ReturnType<typeof parseCompareSearch>;

export const parseCompareSearch = searchParser({
  /** Ids of the runs, joined by commas; the first is the baseline. */
  runs: text,
  /** The run whose items are listed; by default the second. */
  other: text,
  only: oneOf(...ONLY),
  /** What paired items have in common; by default all of their content. */
  by: oneOf('id', 'prompt'),
  /** The scorer whose scores are compared; the main one by default. */
  scorer: text,
  /** How the pairs are sliced: `section`, `tag`, or a JSON Pointer into the items. */
  slice: text,
  /** What all runs of the dataset are drawn against. */
  against: oneOf(...MEASURES),
  page: wholeNumber(1, 100_000),
  item: text,
});

export const compareRoute = getRouteApi('/compare');

export const useChangeCompare = () => useChangeSearch<CompareSearch>(compareRoute);
