import { REQUEST_VALUES } from '@svc/client';
import { getRouteApi } from '@tanstack/react-router';
import { oneOf, searchParser, text, useChangeSearch, withMetaFilters } from '../ui/search-params.ts';

export const CHANGES = ['changed', 'added', 'removed'] as const;

export type DatasetSearch = ReturnType<typeof parseDatasetSearch>;

const parseNamed = searchParser({
  columns: text,
  widths: text,
  tab: oneOf('items', 'runs', 'overview', 'history', 'provenance', 'diff'),
  /** Number of the version that is shown, or the beginning of its hash; by default the newest. */
  version: text,
  section: text,
  type: text,
  tag: text,
  q: text,
  /** The expected answer, whole. */
  expected: text,
  /** The open item: its hash, or its position, `<section order>-<item order>`. */
  item: (stated) => {
    const item = text(stated);
    return item === undefined || isItemHash(item) || /^\d{1,9}-\d{1,9}$/.test(item) ? item : undefined;
  },
  other: text,
  from: text,
  to: text,
  only: oneOf(...CHANGES),
});

export const parseDatasetSearch = withMetaFilters(parseNamed);

const HASH = /^[0-9a-f]{64}$/;

export const isItemHash = (text: string): boolean => HASH.test(text);

const { source, sort } = REQUEST_VALUES['/datasets'];

export const SOURCES = source;

export type DatasetsSearch = ReturnType<typeof parseDatasetsSearch>;

export const parseDatasetsSearch = searchParser({
  q: text,
  source: oneOf(...SOURCES),
  version_hash: text,
  sort: oneOf(...sort),
  cursor: text,
});

export const datasetRoute = getRouteApi('/datasets/$id');

export const useChangeDataset = () => useChangeSearch<DatasetSearch>(datasetRoute);
