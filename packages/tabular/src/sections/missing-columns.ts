import { JsonlError } from '@svc/jsonl-v23';
import { ImportErrors } from '@svc/jsonl-v23/imports';
import { jsonPointer } from '@svc/jsonl-v23/json';
import { type ColumnUse, columnUses, type Mapping } from '@svc/jsonl-v23/mapping';

const MAX_LISTED = 50;
const MAX_ERRORS = 100;
/** Suggestions take time, and a mapping may name thousands of columns. */
const MAX_SUGGESTIONS = 10;

/**
 * The error for the columns of a mapping that a dataset does not have; null if it has all of them.
 * @param facts of the table: the file that has these columns, and a sentence that tells why it may have other columns than expected
 */
export function missingColumns(
  mapping: Mapping,
  names: readonly string[],
  { file, hint }: { readonly file?: string | undefined; readonly hint?: string | undefined } = {},
): JsonlError | ImportErrors<JsonlError> | null {
  const known = new Set(names);
  const missing = usedColumns(mapping).filter(({ column }) => column !== '' && !known.has(column));
  const errors = missing.slice(0, MAX_ERRORS).map(({ column, path }, index) => {
    const nearest = index < MAX_SUGGESTIONS ? nearestName(column, names) : null;
    const suggestion = nearest === null ? '' : ` Did you mean ${quote(nearest)}?`;
    const list = index === 0 ? ` ${listOf(names, file)}${hint === undefined ? '' : ` ${hint}`}` : '';
    const message = `Column ${shorten(column)} not found in dataset row.${suggestion}${list}`;
    return new JsonlError('column_not_found', message, { ...(file === undefined ? {} : { file }), path });
  });
  const [first] = errors;
  if (first === undefined) return null;
  return missing.length === 1 ? first : new ImportErrors(first, errors, missing.length);
}

function listOf(names: readonly string[], file: string | undefined): string {
  const owner = file === undefined ? 'The dataset' : `The file ${quote(file)}`;
  if (names.length === 0) return `${owner} has no columns.`;
  const rest = names.length - MAX_LISTED;
  const listed = names.slice(0, MAX_LISTED).map(quote).join(', ');
  return `${owner} has the columns ${listed}${rest > 0 ? `, and ${rest} more` : ''}.`;
}

const shorten = (name: string): string => (name.length > 100 ? `${name.slice(0, 99)}…` : name);
const quote = (name: string): string => JSON.stringify(shorten(name));

const KEYS = (
  'prompt_column answer_column system_prompt_column choices_column assets_column id_column type_column ' +
  'checker_column criteria_columns choices_columns tags_columns prompt_template system_prompt_template types meta_columns'
).split(' ');

function usedColumns(mapping: Mapping): ColumnUse[] {
  const typed = Object.keys(mapping.types ?? {}).map((column) => {
    return { key: 'types', column, path: jsonPointer(['mapping', 'types', column]) };
  });
  const uses = [...columnUses(mapping), ...typed].sort((a, b) => KEYS.indexOf(a.key) - KEYS.indexOf(b.key));
  // A template may have a column several times.
  return [...new Map(uses.map((use) => [JSON.stringify([use.path, use.column]), use])).values()];
}

const MAX_COMPARED_LENGTH = 64;
const MAX_COMPARED_NAMES = 500;
const MAX_DISTANCE = 2;

/** The name that `wanted` may be a misspelling of; null if none is near. */
function nearestName(wanted: string, names: readonly string[]): string | null {
  if (wanted.length > MAX_COMPARED_LENGTH) return null;
  const folded = wanted.toLowerCase();
  let nearest: string | null = null;
  let bound = Math.min(MAX_DISTANCE, Math.floor(wanted.length / 2)) + 1;
  for (const name of names.slice(0, MAX_COMPARED_NAMES)) {
    if (name.length > MAX_COMPARED_LENGTH || Math.abs(name.length - wanted.length) >= bound) continue;
    const distance = editDistance(folded, name.toLowerCase());
    if (distance < bound) [nearest, bound] = [name, distance];
  }
  return nearest;
}

/** Insertions, deletions and replacements of characters that turn `a` into `b` (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
