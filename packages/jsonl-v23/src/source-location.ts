/** Where something is at fault. Every member is optional: a place says as much as is known. */
export interface Place {
  /** File or archive entry, as the caller named it. */
  file?: string;
  /** 1-based line of the file; blank lines count. */
  line?: number;
  /** 1-based column in the line, in UTF-16 code units. */
  column?: number;
  /** JSON Pointer (RFC 6901) inside the value: `""` is the whole value, `/inputs/prompt` a member. */
  path?: string;
  /** 0-based index of a dataset row in its split. */
  row?: number;
}

/**
 * Prints a place for people: `items.jsonl:3:17 (/inputs/prompt)`, `line 3, column 17`, `row 12 (/id)`; an
 * empty place gives an empty string.
 */
export function formatPlace(place: Place): string {
  const parts: string[] = [];
  if (place.file !== undefined) {
    let position = place.file;
    if (place.line !== undefined) {
      position += `:${place.line}`;
      if (place.column !== undefined) position += `:${place.column}`;
    }
    parts.push(position);
  } else {
    if (place.line !== undefined) parts.push(`line ${place.line}`);
    if (place.column !== undefined) parts.push(`column ${place.column}`);
  }
  if (place.row !== undefined) parts.push(`row ${place.row}`);
  const position = parts.join(', ');
  if (place.path === undefined || place.path === '') return position;
  return position === '' ? place.path : `${position} (${place.path})`;
}

/** The JSON Pointer (RFC 6901) of a path of keys and array indexes: `['a/b', 0]` is `/a~1b/0`. */
export function jsonPointer(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const step of path) {
    pointer += `/${typeof step === 'number' ? step : step.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return pointer;
}
