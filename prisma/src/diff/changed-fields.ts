import { skipValue } from '@svc/jsonl-v23/json';

/** A member in which two items differ. */
export interface ChangedField {
  /** JSON Pointer (RFC 6901). */
  readonly pointer: string;
  /** Canonical JSON text; null if the item has no such member. A shortened one is the JSON text of a string. */
  readonly from: string | null;
  readonly to: string | null;
  /** Whether a value is shortened. */
  readonly isTruncated: boolean;
}

/** Longer values are shortened. */
export const MAX_VALUE_BYTES: number = 2 * 1024;
/** An array or object with more differences is one of them. */
const MAX_FIELDS = 50;
/** Members of arrays and objects deeper inside one another are not compared one by one. */
const MAX_DEPTH = 16;
/** Nor those of one with a longer pointer, which each of them would repeat. */
const MAX_POINTER_LENGTH = 1024;

/** The members in which two items differ, given their canonical texts. Takes time linear in the texts. */
export function changedFields(from: string, to: string): ChangedField[] {
  return compare('', from, to, 0);
}

function compare(pointer: string, from: string | null, to: string | null, depth: number): ChangedField[] {
  if (from === to) return [];
  const isContainer =
    from !== null && to !== null && from[0] === to[0] && (from[0] === '{' || from[0] === '[');
  const whole = (): ChangedField[] => [changedField(pointer, from, to)];
  if (!isContainer || depth === MAX_DEPTH || pointer.length > MAX_POINTER_LENGTH) return whole();
  const after = membersOf(to);
  const fields: ChangedField[] = [];
  const add = (key: string, a: string | null, b: string | null): void => {
    if (fields.length <= MAX_FIELDS) fields.push(...compare(`${pointer}/${stepOf(key)}`, a, b, depth + 1));
  };
  for (const [key, value] of membersOf(from)) {
    add(key, value, after.get(key) ?? null);
    after.delete(key);
  }
  for (const [key, value] of after) add(key, null, value);
  return fields.length > MAX_FIELDS ? whole() : fields;
}

/** The members of a canonical array or object: texts by the texts of their keys, or by their indexes. */
function membersOf(text: string): Map<string, string> {
  const members = new Map<string, string>();
  const isObject = text[0] === '{';
  for (let at = 1; at < text.length - 1; at += 1) {
    let key = String(members.size);
    if (isObject) {
      const end = skipValue(text, at);
      key = text.slice(at, end);
      at = end + 1;
    }
    const end = skipValue(text, at);
    members.set(key, text.slice(at, end));
    at = end;
  }
  return members;
}

/** A step of a JSON Pointer. @param key the JSON text of a key, or an index */
function stepOf(key: string): string {
  if (key[0] !== '"') return key;
  return (JSON.parse(key) as string).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** A field with its values as they are shown. */
export function changedField(pointer: string, from: string | null, to: string | null): ChangedField {
  const isLong = (text: string | null): boolean => text !== null && Buffer.byteLength(text) > MAX_VALUE_BYTES;
  const shown = (text: string | null): string | null =>
    text !== null && isLong(text) ? shortened(text) : text;
  return { pointer, from: shown(from), to: shown(to), isTruncated: isLong(from) || isLong(to) };
}

/** The beginning of a string, or of the text of another value, as the JSON text of a string. */
function shortened(text: string): string {
  const value = text[0] === '"' ? (JSON.parse(text) as string) : text;
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const cut = decoder.decode(Buffer.from(value).subarray(0, MAX_VALUE_BYTES), { stream: true });
  return JSON.stringify(cut);
}
