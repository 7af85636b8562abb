/** What the address of a page states, before it is checked. */
export type RawSearch = Readonly<Record<string, unknown>>;

/** A text of the address; undefined where it is absent or empty. The router reads digits as numbers. */
export function textOf(search: RawSearch, name: string): string | undefined {
  const value = search[name];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A number; undefined where it is absent or none. */
export function numberOf(search: RawSearch, name: string): number | undefined {
  const text = textOf(search, name);
  return text === undefined || !Number.isFinite(Number(text)) ? undefined : Number(text);
}

/** A whole number from 0 on. */
export function indexOf(search: RawSearch, name: string): number | undefined {
  const value = Number(search[name]);
  return search[name] !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** One of some words. */
export function oneOf<T extends string>(search: RawSearch, name: string, words: readonly T[]): T | undefined {
  return words.find((word) => word === search[name]);
}
