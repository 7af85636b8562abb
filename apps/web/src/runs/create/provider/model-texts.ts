import { formatLocation, isJsonObject, JsonlError, type JsonObject, parseJson } from '@svc/jsonl-v23/json';

/** What a typed text states, or else what is wrong with it, with its place. */
export type Read<T> =
  | { readonly value: T; readonly problem: null }
  | { readonly value: null; readonly problem: string };

/** The names and values of a text with a pair on each line. */
type Pairs = Readonly<Record<string, string>>;

const MAX_QUOTED_LENGTH = 40;

/** A JSON object, numbers with every digit; an empty one of a blank text. */
export function readObject(text: string): Read<JsonObject> {
  if (text.trim() === '') return { value: {}, problem: null };
  try {
    const value = parseJson(text);
    return isJsonObject(value)
      ? { value, problem: null }
      : { value: null, problem: 'This is not a JSON object.' };
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    const { line, column } = error.location;
    const location = formatLocation({
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
    });
    return { value: null, problem: `Invalid JSON: ${error.message}${location && ` (${location})`}.` };
  }
}

/** A pair on each line, such as `name: value` with the mark `:`; blank lines count for nothing. */
export function readPairs(text: string, mark: '=' | ':'): Read<Pairs> {
  const pairs = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const at = line.indexOf(mark);
    const name = line.slice(0, Math.max(0, at)).trim();
    const form = mark === '=' ? 'name=value' : 'name: value';
    if (name === '')
      return { value: null, problem: `Line ${index + 1} must be ${form}, got ${quoted(line)}.` };
    if (pairs.has(name)) return { value: null, problem: `Line ${index + 1} repeats ${quoted(name)}.` };
    pairs.set(name, line.slice(at + 1).trim());
  }
  return { value: Object.fromEntries(pairs), problem: null };
}

const quoted = (text: string): string =>
  JSON.stringify(text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH - 1)}…` : text);

/** Pairs as text, a line each. */
export function textOfPairs(pairs: Readonly<Record<string, unknown>>, mark: '=' | ': '): string {
  return Object.entries(pairs)
    .map(([name, value]) => `${name}${mark}${String(value)}`)
    .join('\n');
}
