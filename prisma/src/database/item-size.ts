import { StoreError } from './errors.ts';
import { shortened } from './values.ts';

/** Names are cut beyond what the name of an archive's entry can have, so that no list of them is without bound. */
export function boundedName(column: string): string {
  return boundedText(column, 65_535, `left(${column}, 1000) || '…'`);
}

/** A text that is omitted, or replaced, if it is longer than `maxBytes`. */
export function boundedText(column: string, maxBytes: number, otherwise = 'NULL'): string {
  return `CASE WHEN octet_length(${column}) > ${maxBytes} THEN ${otherwise} ELSE ${column} END`;
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
