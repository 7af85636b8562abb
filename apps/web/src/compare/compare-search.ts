import { oneOf, type RawSearch, textOf } from '../ui/search-params.ts';

/** What quality is drawn against. */
export const MEASURES = ['cost', 'latency', 'tokens'] as const;

/** What the address of the compare page states. */
export interface CompareSearch {
  /** Ids of the runs, joined by commas; the first is the baseline. */
  readonly runs?: string;
  /** The run whose items are listed; by default the second. */
  readonly other?: string;
  readonly only?: 'regressions' | 'improvements' | 'changed_output';
  /** What paired items have in common; by default all of their content. */
  readonly by?: 'id' | 'prompt';
  /** The scorer whose scores are compared; the main one by default. */
  readonly scorer?: string;
  /** How the pairs are sliced: `section`, `tag`, or a JSON Pointer into the items. */
  readonly slice?: string;
  /** What all runs of the dataset are drawn against. */
  readonly against?: (typeof MEASURES)[number];
  /** Hash of the open item. */
  readonly item?: string;
}

/** Reads the address of the compare page; what it does not know is left out. */
export function parseCompareSearch(search: RawSearch): CompareSearch {
  return {
    runs: textOf(search, 'runs'),
    other: textOf(search, 'other'),
    only: oneOf(search, 'only', ['regressions', 'improvements', 'changed_output']),
    by: oneOf(search, 'by', ['id', 'prompt']),
    scorer: textOf(search, 'scorer'),
    slice: textOf(search, 'slice'),
    against: oneOf(search, 'against', MEASURES),
    item: textOf(search, 'item'),
  };
}
