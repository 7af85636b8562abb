import { groupBy } from '../group-by.ts';
import { normalForm } from '../zip/entry-name.ts';
import type { ArchiveFiles } from './layout.ts';

/**
 * Makes a function that finds the file that a reference in a legacy item means: by its path from the root, from the folder
 * of the item's file, or in `assets/`; or else the only file whose path ends with it. Null if there is none.
 */
export function createReferenceResolver(
  files: ArchiveFiles,
): (reference: string, fromFile: string) => string | null {
  let byLastPart: Map<string, string[]> | undefined;
  return (reference, fromFile) => {
    const path = normalPath(reference);
    const folder = fromFile.slice(0, fromFile.lastIndexOf('/') + 1);
    for (const candidate of [path, normalPath(`${folder}${reference}`), path && `assets/${path}`]) {
      if (candidate === null) continue;
      const forms = [candidate, normalForm(candidate, 'NFC'), normalForm(candidate, 'NFD')];
      const found = forms.find((form) => files.has(form));
      if (found !== undefined) return found;
    }
    if (path === null) return null;
    byLastPart ??= groupBy(files.keys(), lastPart);
    const ending = (byLastPart.get(lastPart(path)) ?? []).filter((file) => file.endsWith(`/${path}`));
    const [file, ...others] = ending;
    return file !== undefined && others.length === 0 ? file : null;
  };
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A path without `.`, `..`, leading and repeated slashes; null if it is empty or leaves the archive. */
function normalPath(reference: string): string | null {
  const parts: string[] = [];
  for (const part of reference.replaceAll('\\', '/').split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.length === 0 ? null : parts.join('/');
}
