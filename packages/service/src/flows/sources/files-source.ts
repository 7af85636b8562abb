import { JsonlError, type JsonlErrorCode } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { splitLines } from '@svc/jsonl-v23/lines';
import type { MappableFeature, Mapping } from '@svc/jsonl-v23/mapping';
import { mergeFeatures, readTextFile, type Table, TableError, toMappable } from '@svc/tabular';
import { datasetNameOf, fileSchema, openSection, sourceOf } from '@svc/tabular/datasets';
import type { DatasetDraft, DraftContent, ImportReport, ReadSource, TableRows } from '../../store/index.ts';
import { type ImportSource, skippedRows } from '../import-dataset.ts';
import type { FileRequest } from '../requests.ts';
import type { ItemText } from '../threads/read-edits.ts';
import { type TableFile, toUploadError, type UploadedTables } from './uploaded-file.ts';

export interface FilesSourceOptions {
  /** Longest line of items, and longest canonical text of an item. */
  readonly maxLineBytes: number;
  readonly maxDepth: number;
}

interface LinesOptions extends FilesSourceOptions, Pick<FileRequest, 'origins'> {}

/**
 * Files, each of which becomes a section: rows → items by the mapping, or without one lines that are items. Types of CSV
 * columns come from the first rows; if a later value contradicts them, the import begins again, with types from all
 * rows. The mapping is checked before the first row of each file. Memory is bounded by a batch and a row.
 *
 * `write` throws UploadError `unsupported_file`; JsonlError or ImportErrors `column_not_found`; errors of the files.
 */
export function filesSource(
  { files, sentBytes, skipped: skippedFiles }: UploadedTables,
  request: FileRequest,
  options: FilesSourceOptions,
): ImportSource {
  const bytes = files.reduce((sum, { source }) => sum + source.byteLength, 0);
  return {
    start: { source: 'file', bytes },
    skippedFiles,
    toError: (fault) => fault,
    async write(draft, report, signal) {
      // Not of the unpacked files: the ratios of an archive and its tables would multiply.
      const read = { readBytes: bytes, fileBytes: sentBytes };
      const target = { draft, report, read, signal, areNamed: files.length > 1 };
      const { mapping, origins } = request;
      const features = await writeFiles(files, target, mapping, { ...options, origins });
      const rows = { features, mapping: request.mappingAsSent, skipped: skippedRows(report) };
      const schema = fileSchema(files, rows, skippedFiles);
      return {
        dataset: {
          name: request.name ?? datasetNameOf(files),
          description: request.description ?? null,
          notes: null,
          source: 'file',
          schema: canonicalJson(schema),
        },
        files: request.isPlainBody ? [] : schema.files,
      };
    },
  };
}

interface Target {
  readonly draft: DatasetDraft;
  readonly report: ImportReport;
  readonly read: ReadSource;
  /** Whether the files name the sections. */
  readonly areNamed: boolean;
  readonly signal: AbortSignal;
}

async function writeFiles(
  files: readonly TableFile[],
  target: Target,
  mapping: Mapping | null,
  options: LinesOptions,
): Promise<MappableFeature[]> {
  try {
    return await writeSections(files, target, mapping, { ...options, wholeFile: false });
  } catch (error) {
    if (!(error instanceof TableError && error.code === 'type_changed')) throw error;
    await target.draft.restart();
    target.report.clear();
    return await writeSections(files, target, mapping, { ...options, wholeFile: true });
  }
}

async function writeSections(
  files: readonly TableFile[],
  target: Target,
  mapping: Mapping | null,
  options: LinesOptions & { readonly wholeFile: boolean },
): Promise<MappableFeature[]> {
  const tables: Pick<Table, 'features'>[] = [];
  for (const file of files) {
    try {
      if (mapping === null) await writeItems(file, target, options);
      else tables.push(await writeTable(file, target, mapping, options));
    } catch (error) {
      const found = toUploadError(error, file.name);
      if (!isFault(found)) throw found;
      // After this line or row, the file cannot be read.
      target.report.faults.addError(found);
    }
  }
  return mergeFeatures(tables.map(({ features }) => features)).map(toMappable);
}

/** Whether an error concerns one line or row, and neither the mapping nor all rows together. */
const isFault = (error: unknown): error is JsonlError =>
  error instanceof JsonlError && !OF_ALL_ROWS.has(error.code);

const OF_ALL_ROWS: ReadonlySet<JsonlErrorCode> = new Set([
  'column_not_found',
  'invalid_mapping',
  'package_limit',
]);

async function writeItems(
  file: TableFile,
  { draft, read, areNamed: isNamed, signal }: Target,
  { maxLineBytes, maxDepth, origins }: LinesOptions,
): Promise<void> {
  const { name, section, detected } = file;
  const content = readTextFile(sourceOf(file), detected, { signal });
  const lines = splitLines(content, { file: name, maxLineBytes, signal });
  const options = { file: name, maxDepth, maxLineBytes, origins };
  await draft.section(section, { isNamed, file: name, read }).writeLines(lines, options);
}

async function writeTable(
  file: TableFile,
  { draft, report, read, areNamed: isNamed, signal }: Target,
  mapping: Mapping,
  { maxLineBytes: maxItemBytes, wholeFile }: FilesSourceOptions & { readonly wholeFile: boolean },
): Promise<Table> {
  const { name, section } = file;
  const { table, columns, unused, ...planned } = await openSection(file, mapping, { wholeFile, signal });
  for (const column of unused) report.unusedColumns.add(column);
  const plan = { ...planned, maxItemBytes };
  const writer = draft.section(section, { itemsTotal: table.rowCount, isNamed, file: name, read });
  await writer.writeRows(rowsOf(table, section, columns, signal), plan);
  return table;
}

async function* rowsOf(
  table: Table,
  split: string,
  columns: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<TableRows> {
  for await (const batch of table.read({ columns, signal })) yield { ...batch, split };
}

export interface EditedItem {
  readonly item: ItemText;
  /** JSON Pointer of the item in the request, for errors. */
  readonly path: string;
}

/**
 * Items that replace others, in the order of their edits.
 *
 * @param options.origins of this service: links to its stored files become these files
 */
export function editsSource(
  edited: readonly EditedItem[],
  { maxLineBytes, maxDepth, origins }: FilesSourceOptions & { readonly origins: readonly string[] },
): ImportSource {
  return {
    start: { source: 'file' },
    toError({ code, message, location: { line = 1, path = '' }, cause }) {
      return new JsonlError(code, message, { path: `${edited[line - 1]?.path ?? ''}${path}` }, { cause });
    },
    async write(draft, report, signal) {
      if (edited.length > 0) {
        const lines = splitLines(linesOf(edited), { maxLineBytes, signal });
        try {
          const options = { file: 'edits', maxLineBytes, maxDepth, origins };
          await draft.section('default', { isNamed: false }).writeLines(lines, options);
        } catch (error) {
          if (!(error instanceof JsonlError && error.code === 'line_too_long')) throw error;
          report.faults.addError(error);
        }
      }
      return NO_DATASET;
    },
  };
}

async function* linesOf(edited: readonly EditedItem[]): AsyncGenerator<Uint8Array> {
  for (const { item } of edited) yield item.line;
}

/** Edits make no dataset. */
const NO_DATASET: DraftContent = {
  dataset: { name: '', description: null, notes: null, source: 'file', schema: '{}' },
};
