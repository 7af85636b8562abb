import { pointerOf } from '../../ui/pointer-of.ts';

/** The key of the column of a scorer. */
export const scorerKey: RegExp = /^scorer\.(.+)$/;

/** The key of the column of a member of the metadata, by its JSON Pointer: an address joins keys by commas. */
export const metaKey = (pointer: string): string => `meta.${pointer.replaceAll(/[%,]/g, encodeURIComponent)}`;

/** The pointer into the metadata whose column has a key, in older addresses a name; undefined for other columns. */
export function metaPointerOf(key: string): string | undefined {
  if (!key.startsWith('meta.')) return undefined;
  const stated = key.slice('meta.'.length).replaceAll('%2C', ',').replaceAll('%25', '%');
  return stated.startsWith('/') ? stated : pointerOf(stated);
}

/** Columns that the service can sort by, with its names for them. */
export const SORTED_COLUMNS: Readonly<Record<string, string>> = {
  id: 'order',
  question: 'question',
  expected: 'expected',
  got: 'got',
  score: 'score',
  latency: 'latency',
  tokens: 'output_tokens',
  cost: 'cost',
  tags: 'tags',
  type: 'type',
  label: 'label',
};
