import { oneOf, searchParser, text } from '../../ui/search-params.ts';

export const SOURCES = ['hub', 'pkg_zip', 'file'] as const;

/** Orders of the list; a minus turns one round. */
const SORTS = ['-created', 'created', 'name', '-name', 'items', '-items'] as const;
export type DatasetSort = (typeof SORTS)[number];

/** What the address of the list of datasets states. */
export type DatasetsSearch = ReturnType<typeof parseDatasetsSearch>;

export const parseDatasetsSearch = searchParser({
  q: text,
  source: oneOf(...SOURCES),
  version_hash: text,
  sort: oneOf(...SORTS),
  cursor: text,
});
