import { StoreError } from './errors.ts';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Less than the id of every row (RFC 9562 section 5.9). */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Whether a text can be compared with a uuid column; what cannot names no row. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** A text if a `text` column holds it unchanged. @throws StoreError `invalid_request` that names the field */
export function storableText(field: string, text: string): string {
  if (text.includes('\0')) {
    throw new StoreError(
      'invalid_request',
      `The ${field} holds the character U+0000, which cannot be stored.`,
    );
  }
  if (!text.isWellFormed()) {
    throw new StoreError(
      'invalid_request',
      `The ${field} holds half of a surrogate pair, which cannot be stored.`,
    );
  }
  return text;
}

export function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/** Whether a text has letters beyond ASCII that have another case; which one may depend on the locale of the database. */
function hasOtherCases(text: string): boolean {
  const others = text.replace(/[\0-\x7f]/g, '');
  return others.toLowerCase() !== others.toUpperCase();
}

/**
 * Makes the SQL for whether values contain a text, in any case. By the rules of no locale it costs half as much, and in some
 * locales i and I are not the same letter.
 *
 * @param wanted placeholder of the text
 */
export function containing(text: string, wanted: string): (value: string) => string {
  const collation = hasOtherCases(text) ? '' : ' COLLATE "C"';
  return (value) => `position(lower(${wanted}::text${collation}) IN lower(${value}${collation})) > 0`;
}

/** A text as it appears inside a canonical JSON string, to search for in JSON text. */
export function insideJsonString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Text that can stand in a comparison: what no column can hold matches nothing. */
export function searchableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/**
 * SQL for a `json` value whose members every supported PostgreSQL can read. Before version 17, `->` fails for a whole
 * document that contains the escape of a NUL or of half a surrogate pair. Such an escape becomes U+FDD0 and its digits,
 * which `memberText` turns back.
 */
export function readableJson(value: string): string {
  const text = `(${value})::text`;
  return `(CASE WHEN position('\\u0000' IN ${text}) > 0 OR position('\\ud' IN ${text}) > 0
    THEN regexp_replace(${text}, '${ESCAPE}', '\\1' || chr(${MARK}) || '\\2', 'g')::json ELSE ${value} END)`;
}

/** SQL for the text of a member of `readableJson`, as it is stored. */
export function memberText(member: string): string {
  return `replace((${member})::text, chr(${MARK}), '\\u')`;
}

/** A key or a text as it stands in `readableJson`. */
export function readableText(key: string): string {
  const marked = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, '0');
  return key.replace(/[\0\p{Surrogate}]/gu, (unit) => `${String.fromCodePoint(MARK)}${marked(unit)}`);
}

/** After an even number of backslashes: each pair is an escaped one. */
const ESCAPE = String.raw`(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})`;

/** U+FDD0, which Unicode reserves for use inside a program. */
const MARK = 0xfdd0;

/** Names are cut beyond what the name of an archive's entry can have, so that no list of them is without bound. */
export function boundedName(column: string): string {
  return boundedText(column, 65_535, `left(${column}, 1000) || '…'`);
}

/** A text that is omitted, or replaced, if it is longer than `maxBytes`. */
export function boundedText(column: string, maxBytes: number, otherwise = 'NULL'): string {
  return `CASE WHEN octet_length(${column}) > ${maxBytes} THEN ${otherwise} ELSE ${column} END`;
}

export function runNotFound(id: string): StoreError {
  return new StoreError('run_not_found', `Run "${shortened(id)}" not found.`);
}

/** The error for a stored item that is too large to read. */
export function itemTooLarge(
  what: 'Item' | 'The result of item',
  { section, orderIndex }: { readonly section: string; readonly orderIndex: number },
  maxBytes: number,
): StoreError {
  const message = `${what} ${orderIndex} of section ${JSON.stringify(shortened(section))} has more than ${maxBytes} bytes.`;
  return new StoreError('item_too_large', message);
}
