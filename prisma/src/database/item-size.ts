import { StoreError } from './errors.ts';

/*
 * SQL about the sizes of `json` columns.
 *
 * PostgreSQL tells the stored size of a value without reading it, but the size of its text only by making the text,
 * which for one that is compressed costs as much as reading it. So a bound is asked first: by their formats pglz gains at
 * most 88 to 1 and LZ4 255 to 1, and what is not compressed has its stored size, but for a few bytes of header.
 */

const PARTS: readonly string[] = ['payload', 'answer', 'checker', 'assets'];
const MAX_HEADER_BYTES = 64;

const sumOf = (term: (part: string) => string, row: string, parts: readonly string[]): string =>
  `(${parts.map((part) => `coalesce(${term(`${row}.${part}`)}, 0)`).join(' + ')})`;

/** Bytes that the parts of an item take in the database: their text has as many or more, headers aside. */
export function storedBytes(row: string, parts: readonly string[] = PARTS): string {
  return sumOf((part) => `pg_column_size(${part})::bigint`, row, parts);
}

/** Bytes that the text of an item's parts has at most; known without reading them. */
export function boundOfBytes(row: string, parts: readonly string[] = PARTS): string {
  return sumOf(
    (part) => `pg_column_size(${part})::bigint * CASE coalesce(pg_column_compression(${part}), 'none')
      WHEN 'none' THEN 1 WHEN 'pglz' THEN 90 WHEN 'lz4' THEN 256 ELSE 1024 END`,
    row,
    parts,
  );
}

/** Bytes of the text of an item's parts, for which the database makes it. */
export function textBytes(row: string, parts: readonly string[] = PARTS): string {
  return sumOf((part) => `octet_length(${part}::text)::bigint`, row, parts);
}

/** Whether the text of an item's parts has at most so many bytes; made only where the stored size leaves it open. */
export function hasAtMost(maxBytes: number, row: string, parts: readonly string[] = PARTS): string {
  const stored = storedBytes(row, parts);
  // The first test holds for nearly every item that there is.
  return `(${stored} <= ${Math.floor(maxBytes / 1024)} OR CASE WHEN ${stored} > ${maxBytes + MAX_HEADER_BYTES} THEN false
    ELSE ${boundOfBytes(row, parts)} <= ${maxBytes} OR ${textBytes(row, parts)} <= ${maxBytes} END)`;
}

/** Names are cut beyond what the name of an archive's entry can have, so that no list of them is without bound. */
export function boundedName(column: string): string {
  return boundedText(column, 65_535, `left(${column}, 1000) || '…'`);
}

/** A text that is left out, or replaced, where it has more than so many bytes. */
export function boundedText(column: string, maxBytes: number, otherwise = 'NULL'): string {
  return `CASE WHEN octet_length(${column}) > ${maxBytes} THEN ${otherwise} ELSE ${column} END`;
}

/** An item that is there but is not read. */
export function itemTooLarge(
  what: 'Item' | 'The result of item',
  { section, orderIndex }: { readonly section: string; readonly orderIndex: number },
  maxBytes: number,
): StoreError {
  const name = section.length > 100 ? `${section.slice(0, 100)}…` : section;
  const message = `${what} ${orderIndex} of section ${JSON.stringify(name)} has more than ${maxBytes} bytes.`;
  return new StoreError('item_too_large', message);
}
