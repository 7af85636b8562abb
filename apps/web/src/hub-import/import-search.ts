import { type RawSearch, textOf } from '../ui/search-params.ts';

/** What the address of the import page states. */
export interface ImportSearch {
  readonly path?: string;
  readonly subset?: string;
  readonly split?: string;
  readonly revision?: string;
}

/** Reads the address of the import page; what it does not know is left out. */
export function parseImportSearch(search: RawSearch): ImportSearch {
  return {
    path: textOf(search, 'path'),
    subset: textOf(search, 'subset'),
    split: textOf(search, 'split'),
    revision: textOf(search, 'revision'),
  };
}
