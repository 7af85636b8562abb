import type { Mapping } from '@svc/jsonl-v23/mapping';
import { openFileTable } from '../files/open-file-table.ts';
import { toMappable } from '../schema/features.ts';
import type { Table } from '../table.ts';
import { type MappedColumns, planMapping, typedColumns } from './plan-mapping.ts';
import { labelOf, sourceOf, type TableFile } from './table-file.ts';

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
  const textColumns = typedColumns(mapping);
  const options = { textColumns, wholeFile, skipsInvalid: true, signal };
  const table = await openFileTable(sourceOf(file), file.detected, options);
  const facts = { unreadRow: table.unreadRow, file: labelOf(file), hint: file.detected.warnings?.[0] };
  return { table, ...planMapping(mapping, table.features.map(toMappable), facts) };
}
