/** The key of the column of a scorer. */
export const scorerKey: RegExp = /^scorer\.(.+)$/;

/** The key of the column of a member of the metadata: an address joins keys by commas. */
export const metaKey = (name: string): string => `meta.${name.replaceAll(/[%,]/g, encodeURIComponent)}`;

/** The member of the metadata whose column has a key; undefined for other columns. */
export const metaNameOf = (key: string): string | undefined =>
  key.startsWith('meta.')
    ? key.slice('meta.'.length).replaceAll('%2C', ',').replaceAll('%25', '%')
    : undefined;

/** Columns that the service can sort by, with its names for them. */
export const SORTED_COLUMNS: Readonly<Record<string, string>> = {
  id: 'order',
  score: 'score',
  latency: 'latency',
  tokens: 'output_tokens',
  cost: 'cost',
};
