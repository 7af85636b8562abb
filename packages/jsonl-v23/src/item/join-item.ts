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

export interface ItemPiece {
  readonly part: 'assets' | 'checker' | null;
  readonly text: string;
}

/** The text that {@link joinItem} makes, with `assets` and `checker` as separate pieces. */
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
  // Most payloads begin with "criteria", "id" or "inputs", which sort after all added keys.
  const last = added.at(-1)?.[0] ?? '';
  const isObject = payload.startsWith('{"') && payload.endsWith('}');
  if (isObject && (last === '' || payload.slice(2, 2 + last.length) > last)) {
    return [...members, payload.slice(1, -1)];
  }
  try {
    return mergeMembers(payload, added);
  } catch (error) {
    if (error instanceof JsonlError) throw notCanonical(error);
    throw error;
  }
}

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

/**
 * A file that an item embeds, and whose content is kept elsewhere. In the texts of the item, the entry has `sha256` and
 * `byte_length` in place of `encoding` and `data`. An entry may have such members by itself: only the item's list of
 * linked files says which entries are links.
 */
export interface LinkedFile {
  /** JSON Pointer of the entry in the item: `/assets/...` or `/checker`. */
  readonly pointer: string;
  /** Where the entry starts and ends in the text of its part, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** The canonical text of the entry with its content embedded: this, the content in base64, and `after`. */
  readonly before: string;
  readonly after: string;
  /** SHA-256 of the content, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Bytes of the content. */
  readonly byteLength: number;
}

/** The stored parts of an item, and the files that `assets` and `checker` lack, in the order of the item's text. */
export interface LinkedParts extends ItemParts {
  readonly linkedFiles: readonly LinkedFile[];
}

/** Whether a file belongs to the item's checker, else to its assets. */
export function isCheckerFile({ pointer }: Pick<LinkedFile, 'pointer'>): boolean {
  return pointer === '/checker';
}

/** An item in texts and files. @throws JsonlError `invalid_json` if the payload cannot be the text of an object */
export function layoutLinkedItem(parts: LinkedParts): (string | LinkedFile)[] {
  const pieces: (string | LinkedFile)[] = [];
  for (const piece of layoutItem(parts)) {
    if (piece.part === null) pieces.push(piece.text);
    else pieces.push(...layoutPart(piece.text, filesOfPart(parts.linkedFiles, piece.part)));
  }
  return pieces;
}

/** One part of an item in pieces, as {@link layoutLinkedItem}. @param files of the part */
export function layoutPart(text: string, files: readonly LinkedFile[]): (string | LinkedFile)[] {
  const pieces: (string | LinkedFile)[] = [];
  let at = 0;
  for (const file of files) {
    pieces.push(text.slice(at, file.start) + file.before, file, file.after);
    at = file.end;
  }
  pieces.push(text.slice(at));
  return pieces;
}

/** The text of a part with other texts for its linked entries. @param files of the part */
export function replaceLinked(
  text: string,
  files: readonly LinkedFile[],
  replace: (file: LinkedFile) => string,
): string {
  let result = '';
  let at = 0;
  for (const file of files) {
    result += text.slice(at, file.start) + replace(file);
    at = file.end;
  }
  return result + text.slice(at);
}

export function filesOfPart(files: readonly LinkedFile[], part: 'assets' | 'checker'): LinkedFile[] {
  return files.filter((file) => isCheckerFile(file) === (part === 'checker'));
}
