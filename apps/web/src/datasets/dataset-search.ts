import { oneOf, type RawSearch, textOf } from '../ui/search-params.ts';

export const DATASET_TABS = ['items', 'runs', 'overview', 'history', 'provenance', 'diff'] as const;

export const CHANGES = ['changed', 'added', 'removed', 'moved'] as const;

/** What the address of a dataset's page states. */
export interface DatasetSearch {
  readonly tab?: (typeof DATASET_TABS)[number];
  /** Number of the version that is shown, or the beginning of its hash; by default the newest. */
  readonly version?: string;
  readonly section?: string;
  readonly type?: string;
  readonly tag?: string;
  readonly q?: string;
  /** The open item, as `<section order>.<item order>`. */
  readonly item?: string;
  /** The dataset to compare with. */
  readonly other?: string;
  /** The two versions whose differences the history shows. */
  readonly from?: string;
  readonly to?: string;
  /** Kind of the differences that are listed. */
  readonly only?: (typeof CHANGES)[number];
}

/** Reads the address of a dataset's page; what it does not know is left out. */
export function parseDatasetSearch(search: RawSearch): DatasetSearch {
  const item = textOf(search, 'item');
  return {
    tab: oneOf(search, 'tab', DATASET_TABS),
    version: textOf(search, 'version'),
    section: textOf(search, 'section'),
    type: textOf(search, 'type'),
    tag: textOf(search, 'tag'),
    q: textOf(search, 'q'),
    item: item !== undefined && /^\d{1,9}[.-]\d{1,9}$/.test(item) ? item.replace('.', '-') : undefined,
    other: textOf(search, 'other'),
    from: textOf(search, 'from'),
    to: textOf(search, 'to'),
    only: oneOf(search, 'only', CHANGES),
  };
}
