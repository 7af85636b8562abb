import { oneOf, type RawSearch, textOf } from '../../ui/search-params.ts';

export const SOURCES = ['hub', 'pkg_zip', 'file'] as const;

/** Orders of the list; a minus turns one round. */
const SORTS = ['-created', 'created', 'name', '-name', 'items', '-items'] as const;
export type DatasetSort = (typeof SORTS)[number];

/** What the address of the list of datasets states. */
export interface DatasetsSearch {
  readonly q?: string;
  readonly source?: (typeof SOURCES)[number];
  readonly version_hash?: string;
  readonly sort?: DatasetSort;
  readonly cursor?: string;
}

/** Reads the address of the list; what it does not know is left out. */
export function parseDatasetsSearch(search: RawSearch): DatasetsSearch {
  return {
    q: textOf(search, 'q'),
    source: oneOf(search, 'source', SOURCES),
    version_hash: textOf(search, 'version_hash'),
    sort: oneOf(search, 'sort', SORTS),
    cursor: textOf(search, 'cursor'),
  };
}
