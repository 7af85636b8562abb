import { JsonlError } from '@svc/jsonl-v23';
import type { CellBatch } from '@svc/jsonl-v23/internal';
import type { MappableFeature, Mapping } from '@svc/jsonl-v23/mapping';
import type { DatasetDraft } from '@svc/store';
import { mergeFeatures, openFileTable, type Table, TableError } from '@svc/tabular';
import { tableSource } from '@svc/tabular/internal';
import { planMapping, typedColumns } from '../mapping/plan-mapping.ts';
import { findOtherLines, itemLines, type UploadTableOptions } from './item-lines.ts';
import { columnsOf, type TableFile } from './recognise.ts';
import { toUploadError } from './upload-error.ts';

export interface WriteOptions extends UploadTableOptions {
  /** Whether rows that cannot be read become failures of the draft. */
  readonly skipsInvalid: boolean;
}

/**
 * Writes every file as a section: by the mapping, or without one its lines, which are items. Types of CSV columns come from
 * the first rows; where a later value contradicts them, writing begins again, with types from all rows.
 *
 * @returns the columns of all tables
 * @throws as `uploadTable`
 */
export async function writeFiles(
  files: readonly TableFile[],
  draft: DatasetDraft,
  mapping: Mapping | null,
  options: WriteOptions,
): Promise<MappableFeature[]> {
  const fileBytes = files.reduce((sum, { source }) => sum + source.byteLength, 0);
  draft.countBytesOf({ readBytes: fileBytes, fileBytes });
  try {
    return await writeSections(files, draft, mapping, { ...options, wholeFile: false });
  } catch (error) {
    if (!(error instanceof TableError && error.code === 'type_changed')) throw error;
    await draft.restart();
    return await writeSections(files, draft, mapping, { ...options, wholeFile: true });
  }
}

async function writeSections(
  files: readonly TableFile[],
  draft: DatasetDraft,
  mapping: Mapping | null,
  options: WriteOptions & { readonly wholeFile: boolean },
): Promise<MappableFeature[]> {
  const tables: Pick<Table, 'features'>[] = [];
  for (const file of files) {
    const { name } = file;
    const failedBefore = draft.failures.total;
    try {
      if (mapping === null) await draft.section(file.section).writeLines(...itemLines(file, options));
      else tables.push(await writeTable(file, draft, mapping, options));
    } catch (error) {
      const first = toUploadError(error, name);
      throw mapping === null && first instanceof JsonlError && first.code !== 'package_limit'
        ? await findOtherLines(first, files, draft, options)
        : first;
    }
    if (draft.failures.total > failedBefore) draft.locateFailures(name);
  }
  return columnsOf({ features: mergeFeatures(tables.map(({ features }) => features)) });
}

async function writeTable(
  { name, source, section, detected }: TableFile,
  draft: DatasetDraft,
  mapping: Mapping,
  { maxItemBytes, wholeFile, skipsInvalid, signal }: WriteOptions & { readonly wholeFile: boolean },
): Promise<Table> {
  const opened = { textColumns: typedColumns(mapping), wholeFile, skipsInvalid, signal };
  const table = await openFileTable(tableSource(name, source), detected, opened);
  const { columns, plan } = planMapping(
    mapping,
    columnsOf(table),
    maxItemBytes,
    table.unreadRow,
    detected.warnings?.[0],
  );
  await draft.section(section, table.rowCount).writeCells(cellBatches(table, section, columns, signal), plan);
  return table;
}

async function* cellBatches(
  table: Table,
  split: string,
  columns: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<CellBatch> {
  for await (const batch of table.readCells({ columns, signal })) {
    yield { ...batch, split, columns };
  }
}
