import { JsonlError, type MappableFeature, type Mapping } from '@svc/jsonl-v23';
import type { CellBatch } from '@svc/jsonl-v23/internal';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type { DatasetDraft, DatasetSummary } from '@svc/store';
import { mergeFeatures, openFileTable, type Table } from '@svc/tabular';
import { datasetNameOf, tableSource } from '@svc/tabular/internal';
import { findOtherLines, itemLines, type UploadTableOptions } from './files/item-lines.ts';
import { columnsOf, type TableFile } from './files/recognise-upload.ts';
import { toUploadError } from './files/upload-error.ts';
import { type DryRun, dryRunResult } from './mapping/dry-run.ts';
import { planMapping, typedColumns, withTypes } from './mapping/plan-mapping.ts';
import { skippedRows } from './mapping/skipped-rows.ts';
import { fileProvenance } from './provenance.ts';
import type { FileRequest } from './requests.ts';

/**
 * Imports files into a draft, each as a section: rows → items by the mapping, or lines that are items already → rows of
 * the store, in one pass. Types of CSV columns come from a first pass over the file, which ends when they are known. The
 * mapping is checked before the first row. Memory is bounded by a batch and a row. The caller commits the draft.
 *
 * @throws UploadError `unsupported_file`; JsonlError with file, line or row; ImportErrors, JsonlError `column_not_found`;
 *   what the sources and the draft throw
 */
export async function uploadTable(
  files: readonly TableFile[],
  draft: DatasetDraft,
  request: FileRequest,
  options: UploadTableOptions,
): Promise<DatasetSummary> {
  const features = await writeFiles(files, draft, request, options);
  const skipped = request.mapping === null ? null : skippedRows(request.mapping, draft);
  return await draft.insert({
    name: request.name ?? datasetNameOf(files),
    description: request.description ?? null,
    notes: null,
    source: 'file',
    schema: canonicalJson(fileProvenance(request, files, features, skipped)),
  });
}

/** Does everything that an upload of tables does, but stores nothing; continues after rows that it cannot convert. */
export async function dryRunTable(
  files: readonly TableFile[],
  draft: DatasetDraft,
  request: FileRequest,
  options: UploadTableOptions,
): Promise<DryRun> {
  try {
    await writeFiles(files, draft, request, options);
  } catch (error) {
    // Of faulty lines the draft has the list.
    if (request.mapping !== null || draft.failures.total === 0) throw error;
  }
  return dryRunResult(request.mapping, draft);
}

/** Writes every file as a section. @returns the columns of all tables */
async function writeFiles(
  files: readonly TableFile[],
  draft: DatasetDraft,
  { mapping }: FileRequest,
  options: UploadTableOptions,
): Promise<MappableFeature[]> {
  const tables: Pick<Table, 'features'>[] = [];
  draft.countBytesOf({ readBytes: files.reduce((sum, { source }) => sum + source.byteLength, 0) });
  for (const file of files) {
    const { name } = file;
    const failedBefore = draft.failures.total;
    try {
      if (mapping === null) await draft.section(file.section).writeLines(...itemLines(file, options));
      else tables.push(await writeTable(file, draft, mapping, options));
    } catch (error) {
      const first = toUploadError(error, name);
      throw mapping === null && first instanceof JsonlError
        ? await findOtherLines(first, files, draft, options)
        : first;
    }
    if (draft.failures.total > failedBefore) draft.locateFailures(name);
  }
  return withTypes(columnsOf({ features: mergeFeatures(tables.map(({ features }) => features)) }), mapping);
}

async function writeTable(
  { name, source, section, detected }: TableFile,
  draft: DatasetDraft,
  mapping: Mapping,
  { maxItemBytes, signal }: UploadTableOptions,
): Promise<Table> {
  const textColumns = typedColumns(mapping);
  const table = await openFileTable(tableSource(name, source), detected, { textColumns, signal });
  const { columns, plan } = planMapping(mapping, columnsOf(table), maxItemBytes, table.unreadRow);
  await draft.section(section, table.rowCount).writeCells(cellBatches(table, section, columns, signal), plan);
  return table;
}

async function* cellBatches(
  table: Table,
  split: string,
  columns: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<CellBatch> {
  for await (const batch of table.readCells({ from: 0, to: null, columns, signal })) {
    yield { ...batch, split, columns };
  }
}
