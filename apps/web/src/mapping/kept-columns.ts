import type { MappingDraft } from './mapping-fields.ts';

/** Bytes of files do not belong in metadata. */
const FILES = /image|audio|video|binary|bytes|pdf/i;

/** Columns that a mapping does not use and that metadata can keep. */
export function keptColumns(
  features: readonly { readonly name: string; readonly dtype: string }[],
  draft: MappingDraft,
): readonly string[] {
  const used = new Set(Object.entries(draft).flatMap(([key, value]) => columnsIn(key, value)));
  return features.filter(({ name, dtype }) => !used.has(name) && !FILES.test(dtype)).map(({ name }) => name);
}

/** Whether a table has columns with files. */
export const hasFileColumns = (features: readonly { readonly dtype: string }[]): boolean =>
  features.some(({ dtype }) => FILES.test(dtype));

function columnsIn(key: string, value: unknown): readonly string[] {
  if (value === null || value === undefined || key === 'types') return [];
  if (typeof value === 'string')
    return key.endsWith('_template')
      ? [...value.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
      : key.endsWith('_column')
        ? [value]
        : [];
  return /_columns$/.test(key) ? Object.values(value).map(String) : [];
}

/**
 * A mapping that keeps columns as metadata under their own names.
 *
 * @param hasFiles whether other columns hold files, so that not every column can be kept
 */
export function withMetadata(
  draft: MappingDraft,
  columns: readonly string[],
  hasFiles: boolean,
): MappingDraft {
  if (columns.length === 0) return draft;
  if (!hasFiles) return { ...draft, keep_unmapped: true };
  const stated = draft.meta_columns ?? {};
  const before = Array.isArray(stated) ? stated.map((name) => [name, name] as const) : Object.entries(stated);
  return {
    ...draft,
    meta_columns: Object.fromEntries([...columns.map((name) => [name, name] as const), ...before]),
  } as MappingDraft;
}
