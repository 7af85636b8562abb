import { REQUEST_VALUES } from '@svc/client';
import { oneOf, searchParser, text } from '../../ui/search-params.ts';

const { source, sort } = REQUEST_VALUES['/datasets'];

export const SOURCES = source;
export type DatasetSort = (typeof sort)[number];

/** What the address of the list of datasets states. */
export type DatasetsSearch = ReturnType<typeof parseDatasetsSearch>;

export const parseDatasetsSearch = searchParser({
  q: text,
  source: oneOf(...SOURCES),
  version_hash: text,
  sort: oneOf(...sort),
  cursor: text,
});
