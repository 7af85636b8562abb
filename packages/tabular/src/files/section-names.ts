import { toDatasetName, withoutControls } from '@svc/jsonl-v23/internal';
import { TableError } from '../errors.ts';
import { withoutFormat } from './format-by-name.ts';

/**
 * The names of the sections that files become: the names of the files without their format, their compression and control
 * characters; one file becomes `default`.
 *
 * @throws TableError `invalid_name` for two files of one name, and for one without a name
 */
export function sectionNames(files: readonly string[]): string[] {
  if (files.length === 1) return [DEFAULT_SECTION];
  const names = files.map((file) => {
    const plain = withoutControls(file);
    const bare = withoutFormat(plain);
    return bare === '' ? plain : bare;
  });
  const taken = new Set<string>();
  for (const [index, name] of names.entries()) {
    if (name === '') throw new TableError('invalid_name', 'Each of several files must have a name.');
    if (taken.has(name)) {
      const message = `Two files would become the section ${JSON.stringify(name.slice(0, 100))}.`;
      throw new TableError('invalid_name', message, { location: { file: files[index] ?? name } });
    }
    taken.add(name);
  }
  return names;
}

/** The section of a single file. */
const DEFAULT_SECTION = 'default';

/** The name of a dataset by its first file. */
export function datasetNameOf(files: readonly { readonly name: string }[]): string {
  const [first] = files;
  const base = withoutControls(first?.name.split(/[/\\]/).at(-1) ?? '');
  return toDatasetName(withoutFormat(base), 'upload');
}
