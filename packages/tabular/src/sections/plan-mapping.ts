import {
  compileMapping,
  type MappableFeature,
  type Mapping,
  mappedColumns,
  withUnmapped,
} from '@svc/jsonl-v23/mapping';
import { openFileTable } from '../files/open-file-table.ts';
import { toMappable } from '../schema/features.ts';
import type { Table } from '../table.ts';
import { missingColumns } from './missing-columns.ts';
import { labelOf, sourceOf, type TableFile } from './table-file.ts';

/** What a mapping reads of a table. */
export interface MappedColumns {
  /** The mapping, with the columns that it keeps in `meta`. */
  readonly mapping: Mapping;
  /** The columns to read. */
  readonly columns: readonly string[];
  /** These columns, and the ones whose types the mapping gives, with their types. */
  readonly features: readonly MappableFeature[];
  /** Columns that no key uses. */
  readonly unused: readonly string[];
}

/** Facts of a table other than its columns. */
export interface TableFacts {
  /** The first row that could not be read when the columns were looked for. */
  readonly unreadRow?: Error | undefined;
  /** The file that holds the table. */
  readonly file?: string | undefined;
  /** Why the table may have other columns than expected, in a sentence. */
  readonly hint?: string | undefined;
}

/**
 * Plans how the rows of a table become items, and reports errors of the mapping before the first row is read.
 *
 * @throws JsonlError, or ImportErrors for several columns, `column_not_found`; JsonlError `invalid_mapping`; the error
 *   of the unread row if a missing column may belong to it, since no import gets beyond that row
 */
export function planMapping(
  given: Mapping,
  features: readonly MappableFeature[],
  { unreadRow, file, hint }: TableFacts = {},
): MappedColumns {
  const names = features.map(({ name }) => name);
  const missing = missingColumns(given, names, { file, hint });
  const mapping = withUnmapped(given, names);
  const columns = mappedColumns(mapping);
  // A mapping that skips invalid rows does without this one.
  if (missing !== null) throw (mapping.invalidRows === 'skip' ? undefined : unreadRow) ?? missing;
  const used = new Set([...columns, ...Object.keys(mapping.types ?? {})]);
  // A table may have many columns that the mapping does not use.
  const known = features.filter(({ name }) => used.has(name)).map(({ name, dtype }) => ({ name, dtype }));
  compileMapping(mapping, known);
  return { mapping, columns, features: known, unused: names.filter((name) => !used.has(name)) };
}

/** The table of a file whose rows become the items of a section. */
export interface SectionTable extends MappedColumns {
  readonly table: Table;
}

/**
 * Opens the table of a file and checks the mapping against its columns. Reading continues after rows that cannot be read.
 *
 * @param wholeFile as for `openFileTable`
 * @throws as `openFileTable` and `planMapping`
 */
export async function openSection(
  file: TableFile,
  mapping: Mapping,
  { wholeFile, signal }: { readonly wholeFile: boolean; readonly signal: AbortSignal },
): Promise<SectionTable> {
  const textColumns = new Set(Object.keys(mapping.types ?? {}));
  const options = { textColumns, wholeFile, skipsInvalid: true, signal };
  const table = await openFileTable(sourceOf(file), file.detected, options);
  const facts = { unreadRow: table.unreadRow, file: labelOf(file), hint: file.detected.warnings?.[0] };
  return { table, ...planMapping(mapping, table.features.map(toMappable), facts) };
}
