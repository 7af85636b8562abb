import { searchParser, text } from '../ui/search-params.ts';

/** What the address of the import page states. */
export type ImportSearch = ReturnType<typeof parseImportSearch>;

export const parseImportSearch = searchParser({ path: text, subset: text, split: text, revision: text });
