import type { ImportSearch } from './import-search.ts';

/** Parts of an address after the name of a dataset. */
const PAGE =
  /\/datasets\/([\w.-]+(?:\/(?!(?:tree|viewer|blob|resolve)(?:\/|$))[\w.-]+)?)(?:\/(tree|viewer|blob|resolve)(?:\/([^?#]*))?)?/;

/**
 * The dataset in what people paste: its name, or the address of its page. The address of a viewer also names the subset and
 * the split, the address of a file the revision.
 */
export function hubSourceOf(text: string): ImportSearch {
  const trimmed = text.trim();
  const match = PAGE.exec(trimmed);
  if (match === null) return { path: trimmed };
  const [, path, view, rest = ''] = match;
  const [first, second] = rest.split('/').map(decoded);
  if (view === 'viewer') return { path, subset: first || undefined, split: second || undefined };
  return { path, revision: first || undefined };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
