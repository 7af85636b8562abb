import { oneOf, type RawSearch, textOf } from '../ui/search-params.ts';

export const DATASET_TABS = ['items', 'runs', 'overview', 'provenance', 'diff'] as const;

/** What the address of a dataset's page states. */
export interface DatasetSearch {
  readonly tab?: (typeof DATASET_TABS)[number];
  readonly section?: string;
  readonly type?: string;
  readonly tag?: string;
  readonly q?: string;
  /** The open item, as `<section order>.<item order>`. */
  readonly item?: string;
  /** The dataset to compare with. */
  readonly other?: string;
}

/** Reads the address of a dataset's page; what it does not know is left out. */
export function parseDatasetSearch(search: RawSearch): DatasetSearch {
  const item = textOf(search, 'item');
  return {
    tab: oneOf(search, 'tab', DATASET_TABS),
    section: textOf(search, 'section'),
    type: textOf(search, 'type'),
    tag: textOf(search, 'tag'),
    q: textOf(search, 'q'),
    item: item !== undefined && /^\d{1,9}[.-]\d{1,9}$/.test(item) ? item.replace('.', '-') : undefined,
    other: textOf(search, 'other'),
  };
}
