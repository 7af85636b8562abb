import { type JsonValue, parseJson } from '@svc/jsonl-v23/json';

/** Parses text that the service has written itself, however deep: depth was limited when the value came in. */
export function readCanonicalText(text: string): JsonValue {
  return parseJson(text, { maxDepth: Number.POSITIVE_INFINITY });
}

/** Where a value stands in a text. */
export interface TextRange {
  readonly start: number;
  /** behind its last character */
  readonly end: number;
}

const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/**
 * Finds members of an object in canonical JSON text without making values of anything, in time that grows with the text
 * and no faster. The others are skipped, whatever they hold.
 *
 * @param start where the value begins; a value that is no object has no members
 */
export function findMembers(
  text: string,
  start: number,
  keys: ReadonlySet<string>,
): ReadonlyMap<string, TextRange> {
  const found = new Map<string, TextRange>();
  if (text.charCodeAt(start) !== OPEN_BRACE) return found;
  const last = [...keys].sort().at(-1) ?? '';
  let position = start + 1;
  while (text.charCodeAt(position) === QUOTE && found.size < keys.size) {
    const keyEnd = stringEnd(text, position);
    const quoted = text.slice(position, keyEnd);
    const key = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
    // keys of canonical text are sorted
    if (key > last) break;
    const end = valueEnd(text, keyEnd + 1);
    if (keys.has(key)) found.set(key, { start: keyEnd + 1, end });
    position = end + 1;
  }
  return found;
}

/**
 * Finds the element of an array in canonical JSON text.
 *
 * @param start where the value begins; a value that is no array has no elements
 * @param index from 0
 */
export function findElement(text: string, start: number, index: number): TextRange | undefined {
  if (text.charCodeAt(start) !== OPEN_BRACKET || text.charCodeAt(start + 1) === CLOSE_BRACKET)
    return undefined;
  let position = start + 1;
  for (let passed = 0; ; passed++) {
    const end = valueEnd(text, position);
    if (passed === index) return { start: position, end };
    if (text.charCodeAt(end) !== COMMA) return undefined;
    position = end + 1;
  }
}

/** At most how many values a range holds, at any depth: its commas and opening brackets, and one. */
export function countValues(text: string, { start, end }: TextRange): number {
  let values = 1;
  for (let position = start; position < end; position++) {
    switch (text.charCodeAt(position)) {
      case QUOTE:
        position = stringEnd(text, position) - 1;
        break;
      case COMMA:
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values++;
    }
  }
  return values;
}

/** Where the value that begins at `start` ends. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let position = start; position < text.length; position++) {
    switch (text.charCodeAt(position)) {
      case QUOTE:
        position = stringEnd(text, position) - 1;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth++;
        break;
      case COMMA:
        if (depth === 0) return position;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        if (depth === 0) return position;
        depth--;
    }
  }
  return text.length;
}

/** Where the string that begins at `start` ends. */
function stringEnd(text: string, start: number): number {
  for (let position = start + 1; ; ) {
    const quote = text.indexOf('"', position);
    if (quote === -1) throw new Error('A string of a stored item has no end');
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    position = quote + 1;
  }
}
