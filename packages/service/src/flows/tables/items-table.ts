import { type OpenDataset, sectionNotFound } from '@svc/store';
import { fileBaseName } from './file-base-name.ts';
import { type ItemRow, itemRows } from './item-row.ts';
import { type TableExport, type TableOptions, tableExport } from './table-export.ts';

export interface ItemsTableOptions extends TableOptions<ItemRow> {
  /** Only the section of this name. */
  readonly section?: string | undefined;
}

/**
 * The items of an open dataset as a table: stored texts → cells → CSV or Parquet. Holds one batch and what the format
 * needs. The caller closes the dataset when the bytes have been taken, or are not needed.
 *
 * @throws StoreError `section_not_found`
 */
export function itemsTable(open: OpenDataset, options: ItemsTableOptions): TableExport {
  const { section } = options;
  const { id, name, versionHash } = open.dataset;
  const sections = open.sections.filter((each) => section === undefined || each.name === section);
  if (section !== undefined && sections.length === 0) throw sectionNotFound(section);
  const table = {
    baseName: `${fileBaseName(name, 'dataset')}.items`,
    source: [id, versionHash, section ?? null],
    read: () => itemRows(open.items(sections)),
  };
  return tableExport(table, options);
}
