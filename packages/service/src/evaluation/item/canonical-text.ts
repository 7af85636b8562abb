import { type ItemParts, joinItem } from '@svc/jsonl-v23';
import { canonicalJson, type JsonValue, parseJson, skipValue } from '@svc/jsonl-v23/json';

/** Parses JSON text that the service wrote, at any depth: depth was limited when the value came in. */
export function readCanonicalText(text: string): JsonValue {
  return parseJson(text, { maxDepth: Number.POSITIVE_INFINITY });
}

export interface TextRange {
  readonly start: number;
  /** Index after its last character. */
  readonly end: number;
}

const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;

/**
 * Finds members of an object in canonical JSON text, in linear time and without parsing values.
 *
 * @param start index of the value; a value that is not an object has no members
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
    const keyEnd = skipValue(text, position);
    const quoted = text.slice(position, keyEnd);
    const key = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
    // The keys of canonical text are sorted.
    if (key > last) break;
    const end = skipValue(text, keyEnd + 1);
    if (keys.has(key)) found.set(key, { start: keyEnd + 1, end });
    position = end + 1;
  }
  return found;
}

/** Finds the element of an array in canonical JSON text. */
function findElement(text: string, start: number, index: number): TextRange | undefined {
  if (text.charCodeAt(start) !== OPEN_BRACKET || text.charCodeAt(start + 1) === CLOSE_BRACKET)
    return undefined;
  let position = start + 1;
  for (let passed = 0; ; passed += 1) {
    const end = skipValue(text, position);
    if (passed === index) return { start: position, end };
    if (text.charCodeAt(end) !== COMMA) return undefined;
    position = end + 1;
  }
}

/** An upper bound for the values in a range, at any depth: its commas and opening brackets, plus one. */
export function countValues(text: string, { start, end }: TextRange): number {
  let values = 1;
  for (let position = start; position < end; position += 1) {
    switch (text.charCodeAt(position)) {
      case QUOTE:
        position = skipValue(text, position) - 1;
        break;
      case COMMA:
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values += 1;
    }
  }
  return values;
}

/** The JSON text of the value at a JSON Pointer in an item; undefined without one. Parses no values. */
export function textAt(parts: ItemParts, pointer: string): string | undefined {
  const [first, ...rest] = pointerSteps(pointer);
  if (first === undefined) return joinItem(parts);
  const isPart = first === 'answer' || first === 'assets' || first === 'checker';
  const text = isPart ? parts[first] : parts.payload;
  if (text === null) return undefined;
  let range: TextRange | undefined = { start: 0, end: text.length };
  for (const step of isPart ? rest : [first, ...rest]) {
    if (range === undefined) return undefined;
    range = text.startsWith('[', range.start)
      ? isIndex(step)
        ? findElement(text, range.start, Number(step))
        : undefined
      : findMembers(text, range.start, new Set([step])).get(step);
  }
  return range === undefined ? undefined : text.slice(range.start, range.end);
}

/** The steps of a JSON Pointer (RFC 6901). */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function isIndex(step: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(step);
}

export function excerpt(text: string, maxChars = 100): string {
  return JSON.stringify(text.length > maxChars ? `${text.slice(0, maxChars)}…` : text);
}

/** A JSON value as plain text: a string unchanged, any other value as canonical JSON. */
export function plainText(value: JsonValue): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

/** A large value as canonical JSON text. It is stored as it is, so nothing has to parse it. */
export class JsonText {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}
