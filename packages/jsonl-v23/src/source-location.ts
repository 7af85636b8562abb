/** The location of an error or an item, as far as it is known. */
export interface SourceLocation {
  /** File or archive entry, as the caller named it. */
  readonly file?: string;
  /** 1-based line of the file; blank lines count. */
  readonly line?: number;
  /** 1-based column in the line, in UTF-16 code units. */
  readonly column?: number;
  /** JSON Pointer (RFC 6901) inside the value: `""` is the whole value, `/inputs/prompt` a member. */
  readonly path?: string;
  /** 0-based index of a dataset row in its split. */
  readonly row?: number;
}

/**
 * A location as text: `items.jsonl:3:17 (/inputs/prompt)`, `line 3, column 17`, `row 12 (/id)`; an empty string for an
 * empty location.
 *
 * @example formatLocation({ file: 'a.jsonl', line: 3 }) // 'a.jsonl:3'
 */
export function formatLocation(location: SourceLocation): string {
  const parts: string[] = [];
  if (location.file !== undefined) {
    let position = location.file;
    if (location.line !== undefined) {
      position += `:${location.line}`;
      if (location.column !== undefined) position += `:${location.column}`;
    }
    parts.push(position);
  } else {
    if (location.line !== undefined) parts.push(`line ${location.line}`);
    if (location.column !== undefined) parts.push(`column ${location.column}`);
  }
  if (location.row !== undefined) parts.push(`row ${location.row}`);
  const position = parts.join(', ');
  if (location.path === undefined || location.path === '') return position;
  return position === '' ? location.path : `${position} (${location.path})`;
}

/** The JSON Pointer (RFC 6901) of a path of keys and array indexes: `['a/b', 0]` is `/a~1b/0`. */
export function jsonPointer(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const step of path) {
    pointer += `/${typeof step === 'number' ? step : step.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return pointer;
}

export const lineLocation = (line: number, file: string | undefined): SourceLocation =>
  file === undefined ? { line } : { file, line };
