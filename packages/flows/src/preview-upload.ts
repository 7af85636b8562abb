import { isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import type { MappableFeature, Mapping } from '@svc/jsonl-v23/mapping';
import type { PackageReader } from '@svc/pkg-format';
import { readPackage } from '@svc/pkg-format/internal';
import { type FileOptions, inferSchema, openFileTable, readRows, type Table } from '@svc/tabular';
import { tableSource } from '@svc/tabular/internal';
import { mappingWarnings, withWarnings } from './mapping/mapping-warnings.ts';
import { planMapping, typedColumns, withTypes } from './mapping/plan-mapping.ts';
import { type PreviewRows, RowsCollector } from './preview/collect-rows.ts';
import { shownColumns } from './preview/shown-columns.ts';
import type { OpenUpload } from './sources/open-upload.ts';
import { columnsOf, type TableFile } from './sources/recognise.ts';
import { toUploadError } from './sources/upload-error.ts';

/** What a person sees before uploading. */
export interface UploadPreview extends PreviewRows {
  readonly kind: 'package' | 'legacy_package' | 'items' | 'table';
  /** As detected; null for archives. */
  readonly format: string | null;
  readonly options: FileOptions | null;
  readonly features: readonly MappableFeature[];
  /** Rows of all files; null where only reading the data tells. */
  readonly numRows: number | null;
  readonly info: JsonObject;
}

export interface UploadPreviewOptions {
  /** Rows that are shown, 1 to 100. */
  readonly limit: number;
  /** That samples, items and the suggestion may take as JSON text. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Files of an archive that were passed over and are named. */
const MAX_NAMED_FILES = 100;

/**
 * Previews an upload. Nothing is stored.
 *
 * @throws PackageError; UploadError `unsupported_file`; JsonlError, ImportErrors for the mapping; errors of the files
 */
export async function previewUpload(
  upload: OpenUpload,
  mapping: Mapping | null,
  options: UploadPreviewOptions,
): Promise<UploadPreview> {
  if (upload.kind === 'legacy_package') return LEGACY_PREVIEW;
  if (upload.kind === 'package') return await previewPackage(await readPackage(upload.archive), options);
  const preview = await previewFiles(upload.kind, upload.files, mapping, options);
  const { ignoredFiles } = upload;
  if (ignoredFiles.length === 0) return preview;
  const info: JsonObject = { ...preview.info, ignored_files: ignoredFiles.slice(0, MAX_NAMED_FILES) };
  if (ignoredFiles.length > MAX_NAMED_FILES) info['ignored_files_total'] = ignoredFiles.length;
  return { ...preview, info };
}

/**
 * Previews files with tables or items: the columns and the first rows of the first file, and with a mapping the items that
 * an import would store. Of a large file only the first rows are read. Nothing is stored.
 *
 * @throws UploadError `unsupported_file`; JsonlError, ImportErrors for the mapping; errors of the sources
 */
async function previewFiles(
  kind: 'items' | 'table',
  files: readonly TableFile[],
  mapping: Mapping | null,
  options: UploadPreviewOptions,
): Promise<UploadPreview> {
  const [first] = files;
  if (first === undefined) throw new RangeError('A preview needs a file.');
  const { limit, maxBytes, signal } = options;
  try {
    const table = await openForPreview(first, mapping, signal);
    const allColumns = columnsOf(table);
    if (mapping !== null) {
      const [hint] = first.detected.warnings ?? [];
      const facts = { unreadRow: table.unreadRow, file: first.name, hint };
      planMapping(mapping, allColumns, Number.POSITIVE_INFINITY, facts);
    }
    const { columns, warnings } = shownColumns(allColumns, mapping);
    const collector = new RowsCollector(columns, mapping, maxBytes);
    const names = columns.map(({ name }) => name);
    let index = 0;
    for await (const { rows } of table.read({ to: limit, columns: names, signal })) {
      for (const row of rows) {
        await collector.add(row, index, first.section);
        index += 1;
      }
      if (collector.isFull) break;
    }
    const { format, options: detected } = first.detected;
    const sections = files.map(({ name, section, detected: own }) => ({
      file: name,
      section,
      format: own.format,
    }));
    return {
      kind,
      format,
      options: detected,
      features: withTypes(columns, mapping),
      numRows: files.length === 1 ? (table.rowCount ?? null) : null,
      info: withWarnings({ sections }, [
        ...warnings,
        ...(table.warnings ?? []),
        ...(mapping === null ? [] : mappingWarnings(mapping)),
      ]),
      ...collector.end(),
    };
  } catch (error) {
    throw toUploadError(error, first.name);
  }
}

async function openForPreview(file: TableFile, mapping: Mapping | null, signal: AbortSignal): Promise<Table> {
  const textColumns = mapping === null ? new Set<string>() : typedColumns(mapping);
  const source = tableSource(file.name, file.source);
  return await openFileTable(source, file.detected, { textColumns, wholeFile: false, signal });
}

/** Previews a package: the first items of its first section. @throws PackageError, JsonlError */
async function previewPackage(
  pkg: PackageReader,
  { limit, maxBytes, signal }: UploadPreviewOptions,
): Promise<UploadPreview> {
  const [section] = pkg.sections;
  const builder = inferSchema('json', { textColumns: 'all' });
  const rows: JsonObject[] = [];
  if (section !== undefined) {
    const { file } = section;
    try {
      for await (const raw of readRows(section.bytes({ signal }), 'json', { file, signal })) {
        if (!isJsonObject(raw.row)) break;
        builder.add(raw);
        rows.push(raw.row);
        if (rows.length >= limit) break;
      }
    } catch (error) {
      throw toUploadError(error, file);
    }
  }
  const features = columnsOf(builder.finish());
  const collector = new RowsCollector(features, null, maxBytes);
  for (const [index, row] of rows.entries()) await collector.add(row, index, '');
  const sections = pkg.sections
    .slice(0, MAX_SECTIONS)
    .map(({ name, file }) => ({ file, section: name, format: 'jsonl' }));
  return {
    ...{ kind: 'package', format: null, options: null, features, numRows: null, info: { sections } },
    ...collector.end(),
    suggestion: null,
  };
}

const MAX_SECTIONS = 100;

/** Of an older archive, which must be converted before anything of it can be shown. */
const LEGACY_PREVIEW: UploadPreview = {
  ...{ kind: 'legacy_package', format: null, options: null, features: [], numRows: null, info: {} },
  ...{ samples: [], truncatedCells: [], suggestion: null, items: null },
};
