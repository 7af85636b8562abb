import { mappedColumns } from '@svc/jsonl-v23/internal';
import type { MappableFeature, Mapping } from '@svc/jsonl-v23/mapping';

/** More columns are not readable, and each costs time and space in every row. */
const MAX_COLUMNS = 1000;

export interface ShownColumns {
  readonly columns: readonly MappableFeature[];
  /** Says that there are more. */
  readonly warnings: readonly string[];
}

/** The columns of a preview: the first thousand, and those that the mapping names. */
export function shownColumns(all: readonly MappableFeature[], mapping: Mapping | null): ShownColumns {
  if (all.length <= MAX_COLUMNS) return { columns: all, warnings: [] };
  const named = new Set(mapping === null ? [] : mappedColumns(mapping));
  return {
    columns: all.filter(({ name }, index) => index < MAX_COLUMNS || named.has(name)),
    warnings: [`The table has ${all.length} columns. The preview shows the first ${MAX_COLUMNS}.`],
  };
}
