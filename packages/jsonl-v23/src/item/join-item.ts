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
  if (added.length === 0) return payload;
  return `{${membersOf(payload, added).join(',')}}`;
}

/** A piece of an item's canonical text: all of a part, or the text around the parts. */
export interface ItemPiece {
  readonly part: 'assets' | 'checker' | null;
  readonly text: string;
}

/**
 * The text that {@link joinItem} makes, with `assets` and `checker` as separate pieces.
 *
 * @throws JsonlError `invalid_json` if the payload cannot be the text of an object
 */
export function layoutItem(parts: ItemParts): ItemPiece[] {
  const { answer, assets, checker } = parts;
  const added: [key: string, member: string | ItemPiece][] = [];
  if (answer !== null) added.push(['answer', `"answer":${answer}`]);
  if (assets !== null) added.push(['assets', { part: 'assets', text: assets }]);
  if (checker !== null) added.push(['checker', { part: 'checker', text: checker }]);
  const pieces: ItemPiece[] = [];
  let text = '{';
  for (const [index, member] of membersOf(parts.payload, added).entries()) {
    if (index > 0) text += ',';
    if (typeof member === 'string') text += member;
    else {
      pieces.push({ part: null, text: `${text}"${member.part}":` }, member);
      text = '';
    }
  }
  return [...pieces, { part: null, text: `${text}}` }];
}

/** The members of an item from its payload and the others, in order; some of the payload may be one text. */
function membersOf<T>(payload: string, added: readonly [key: string, member: T][]): (string | T)[] {
  const members = added.map(([, member]) => member);
  if (payload === '{}') return members;
  // Most payloads begin with "id" or "inputs", which sort after all added keys.
  const last = added.at(-1)?.[0] ?? '';
  const isObject = payload.startsWith('{"') && payload.endsWith('}');
  if (isObject && (last === '' || payload.charCodeAt(2) > last.charCodeAt(0))) {
    return [...members, payload.slice(1, -1)];
  }
  try {
    return mergeMembers(payload, added);
  } catch (error) {
    if (error instanceof JsonlError) throw notCanonical(error);
    throw error;
  }
}

/** The members of the payload and the added ones, in the order of their keys. */
function mergeMembers<T>(payload: string, added: readonly [key: string, member: T][]): (string | T)[] {
  const members: (string | T)[] = [];
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
