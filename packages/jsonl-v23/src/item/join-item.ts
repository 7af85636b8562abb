import { JsonlError } from '../errors.ts';
import { skipValue } from '../json/value-scanner.ts';

/** The stored parts of an item (see `EncodedItem`): canonical texts, null for an absent key. */
export interface ItemParts {
  readonly payload: string;
  readonly answer: string | null;
  readonly checker: string | null;
  readonly assets: string | null;
}

/**
 * Joins the stored parts of an item to the canonical text of the whole item. Only the text is touched, so every digit
 * and escape stays as it is stored.
 *
 * @throws JsonlError `invalid_json` if the payload cannot be the text of an object
 *
 * @example joinItem({ payload: '{"id":1}', answer: '"4"', checker: null, assets: null }) // '{"answer":"4","id":1}'
 */
export function joinItem(parts: ItemParts): string {
  const { payload } = parts;
  const added: [key: string, member: string][] = [];
  if (parts.answer !== null) added.push(['answer', `"answer":${parts.answer}`]);
  if (parts.assets !== null) added.push(['assets', `"assets":${parts.assets}`]);
  if (parts.checker !== null) added.push(['checker', `"checker":${parts.checker}`]);

  const last = added.at(-1);
  if (last === undefined) return payload;
  const head = (): string => added.map(([, member]) => member).join(',');
  if (payload === '{}') return `{${head()}}`;
  // Most payloads begin with "id" or "inputs", which sort after all added keys.
  const isObject = payload.startsWith('{"') && payload.endsWith('}');
  if (isObject && payload.charCodeAt(2) > last[0].charCodeAt(0)) {
    return `{${head()},${payload.slice(1)}`;
  }
  try {
    return `{${mergeMembers(payload, added).join(',')}}`;
  } catch (error) {
    if (error instanceof JsonlError) throw notCanonical(error);
    throw error;
  }
}

/** The members of the payload and the added ones, in the order of their keys. */
function mergeMembers(payload: string, added: readonly [key: string, member: string][]): string[] {
  const members: string[] = [];
  let addedCount = 0;
  let start = 1;
  do {
    const { key, end: keyEnd } = readKey(payload, start);
    for (let next = added[addedCount]; next !== undefined && next[0] < key; next = added[++addedCount]) {
      members.push(next[1]);
    }
    const end = skipValue(payload, keyEnd + 1);
    if (end === payload.length) throw notCanonical();
    members.push(payload.slice(start, end));
    start = end + 1;
  } while (start < payload.length);
  return members.concat(added.slice(addedCount).map(([, member]) => member));
}

/** The key whose opening quote is at `start`, and the index after its closing quote. */
function readKey(text: string, start: number): { readonly key: string; readonly end: number } {
  if (text[start] !== '"') throw notCanonical();
  const end = skipValue(text, start);
  const quoted = text.slice(start, end);
  return { key: quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1), end };
}

function notCanonical(cause?: unknown): JsonlError {
  return new JsonlError('invalid_json', 'The payload is not the canonical text of an object', {}, { cause });
}
