import { JsonlError } from '../errors.ts';

/** The stored parts of an item (see `EncodedItem`): canonical texts, null for an absent key. */
export interface ItemParts {
  payload: string;
  answer: string | null;
  checker: string | null;
  assets: string | null;
}

/**
 * Puts the stored parts of an item together: the canonical text of the whole item. Works on the text alone, so
 * every digit and escape stays as it is stored.
 *
 * Throws JsonlError `invalid_json` when the payload cannot be the text of an object.
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
  // Most payloads begin with "criteria", "id" or "inputs": then nothing has to be looked for.
  if (readKey(payload, 1).key > last[0]) return `{${head()},${payload.slice(1)}`;

  const members: string[] = [];
  let position = 1;
  while (position < payload.length) {
    const { key, end: keyEnd } = readKey(payload, position);
    while (added[0] !== undefined && added[0][0] < key) members.push((added.shift() as [string, string])[1]);
    const end = skipValue(payload, keyEnd + 1);
    members.push(payload.slice(position, end));
    position = end + 1;
  }
  return `{${members.concat(added.map(([, member]) => member)).join(',')}}`;
}

/** The key whose opening quote is at `start`, and the index behind its closing quote. */
function readKey(text: string, start: number): { key: string; end: number } {
  const end = skipString(text, start);
  const quoted = text.slice(start, end);
  return { key: quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1), end };
}

/** The index behind a member's value: of the comma, or of the brace that closes the object. */
function skipValue(text: string, start: number): number {
  let depth = 0;
  let position = start;
  while (position < text.length) {
    switch (text.charCodeAt(position)) {
      case 34:
        position = skipString(text, position);
        continue;
      case 91:
      case 123:
        depth++;
        break;
      case 44:
        if (depth === 0) return position;
        break;
      case 93:
      case 125:
        if (depth === 0) return position;
        depth--;
    }
    position++;
  }
  throw notCanonical();
}

/** The index behind a string whose opening quote is at `start`. */
function skipString(text: string, start: number): number {
  let position = start + 1;
  for (;;) {
    const quote = text.indexOf('"', position);
    if (quote === -1) throw notCanonical();
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === 92) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    position = quote + 1;
  }
}

function notCanonical(): JsonlError {
  return new JsonlError('invalid_json', 'The payload is not the canonical text of an object');
}
