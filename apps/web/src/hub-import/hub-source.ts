import { getRouteApi } from '@tanstack/react-router';
import { oneOf, searchParser, text, useChangeSearch } from '../ui/search-params.ts';

/** What all subsets of a dataset become. */
export const SUBSETS = ['sections', 'tags'] as const;

export type ImportSearch = ReturnType<typeof parseImportSearch>;

export const parseImportSearch = searchParser({
  path: text,
  /** The subset that is imported; with `subsets`, the one that is shown. */
  subset: text,
  subsets: oneOf(...SUBSETS),
  split: text,
  revision: text,
});

/** A slice of a dataset of the hub. The token stays in the memory of the page. */
export interface HubSource extends ImportSearch {
  readonly token?: string | undefined;
}

/** Parts of an address after the name of a dataset. */
const PAGE =
  /\/datasets\/([\w.-]+(?:\/(?!(?:tree|viewer|blob|resolve)(?:\/|$))[\w.-]+)?)(?:\/(tree|viewer|blob|resolve)(?:\/([^?#]*))?)?/;

/**
 * The dataset in what people paste: its name, or the address of its page. The address of a viewer also names the subset and
 * the split, the address of a file the revision.
 */
export function hubSourceOf(typed: string): ImportSearch {
  const trimmed = typed.trim();
  const match = PAGE.exec(trimmed);
  if (match === null) return { path: trimmed };
  const [, path, view, rest = ''] = match;
  const [first, second] = rest.split('/').map(decoded);
  if (view === 'viewer') return { path, subset: first || undefined, split: second || undefined };
  return { path, revision: first || undefined };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const allSubsets = (count: number): readonly { readonly value: string; readonly label: string }[] => [
  { value: 'sections', label: `All ${count}, each a section` },
  { value: 'tags', label: `All ${count}, each a tag` },
];

export const importRoute = getRouteApi('/import');

export const useChangeImport = () => useChangeSearch<ImportSearch>(importRoute);
