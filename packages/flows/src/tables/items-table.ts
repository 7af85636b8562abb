import { type OpenDataset, sectionNotFound } from '@svc/store';
import { fileBaseName } from './file-base-name.ts';
import { type ItemRow, itemRows } from './item-row.ts';
import { MEDIA_TYPES, type TableExport, type TableOptions, tableEtag, writeTable } from './table-export.ts';

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
  const { section, format } = options;
  const { id, name, versionHash } = open.dataset;
  const sections = open.sections.filter((each) => section === undefined || each.name === section);
  if (section !== undefined && sections.length === 0) throw sectionNotFound(section);
  return {
    fileName: `${fileBaseName(name, 'dataset')}.items.${format}`,
    mediaType: MEDIA_TYPES[format],
    etag: tableEtag([id, versionHash, section ?? null], options),
    bytes: () => writeTable(itemRows(open.items(sections)), options),
  };
}
