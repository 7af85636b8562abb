import { oneOf, type RawSearch, textOf } from '../ui/search-params.ts';

/** What the address of the compare page states. */
export interface CompareSearch {
  /** Ids of the runs, joined by commas; the first is the baseline. */
  readonly runs?: string;
  /** The run whose items are listed; by default the second. */
  readonly other?: string;
  readonly only?: 'regressions' | 'improvements' | 'changed_output';
  /** What paired items have in common; by default all of their content. */
  readonly by?: 'id' | 'prompt';
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
    item: textOf(search, 'item'),
  };
}
