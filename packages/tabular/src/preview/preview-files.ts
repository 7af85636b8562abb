import { hasPrompt, type KnownItemType } from '@svc/jsonl-v23';
import { promptWarnings } from '@svc/jsonl-v23/imports';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { type MappableFeature, type Mapping, mappedColumns } from '@svc/jsonl-v23/mapping';
import type { ChunkSource } from '@svc/jsonl-v23/streams';
import type { FileOptions } from '../files/file-format.ts';
import { openFileTable } from '../files/open-file-table.ts';
import { toMappable } from '../schema/features.ts';
import { JsonInference } from '../schema/infer-json.ts';
import { planMapping, type TableFacts } from '../sections/plan-mapping.ts';
import type { SkippedFiles } from '../sections/skipped-files.ts';
import { type InputFile, labelOf, locateError, sourceOf, type TableFile } from '../sections/table-file.ts';
import type { ChosenFiles } from '../sections/unpack-files.ts';
import { readRows } from '../text/read-rows.ts';
import { collectRows, type NumberedRow, type PreviewRows } from './collect-rows.ts';

/** More columns are not readable, and each costs time and space in every row. */
const MAX_COLUMNS = 1000;

/** What a preview shows of a table apart from its rows. */
export interface PreviewPlan {
  /** The columns to read: the first thousand, and further ones that the mapping names. */
  readonly columns: readonly MappableFeature[];
  /** These columns, with the types that the mapping gives. */
  readonly features: readonly MappableFeature[];
  /** Says that there are more columns, and what in the mapping is probably a mistake. */
  readonly warnings: readonly string[];
}

/**
 * Plans the preview of a table with these columns.
 *
 * @throws as `planMapping`
 */
export function planPreview(
  all: readonly MappableFeature[],
  mapping: Mapping | null,
  facts: TableFacts,
): PreviewPlan {
  if (mapping !== null) planMapping(mapping, all, facts);
  const named = new Set(mapping === null ? [] : mappedColumns(mapping));
  const columns = all.filter(({ name }, index) => index < MAX_COLUMNS || named.has(name));
  const more = `The table has ${all.length} columns. The preview shows the first ${MAX_COLUMNS}.`;
  const types = new Map(Object.entries(mapping?.types ?? {}));
  return {
    columns,
    features: columns.map((column) => {
      const dtype = types.get(column.name);
      return dtype === undefined ? column : { name: column.name, dtype };
    }),
    warnings: [
      ...(all.length > MAX_COLUMNS ? [more] : []),
      ...(mapping === null ? [] : mappingWarnings(mapping)),
    ],
  };
}

/** The types that the format defines; any other is allowed. */
const DEFINED_TYPES: Readonly<Record<KnownItemType, true>> = {
  freeform: true,
  multiple_choice: true,
  exact: true,
  numeric: true,
  code: true,
};

/** What a mapping may have although it is probably a mistake, one sentence each. */
function mappingWarnings({ defaultType }: Pick<Mapping, 'defaultType'>): string[] {
  if (defaultType === undefined || Object.hasOwn(DEFINED_TYPES, defaultType)) return [];
  const type = JSON.stringify(defaultType.slice(0, 100));
  const known = Object.keys(DEFINED_TYPES).join(', ');
  return [
    `The format does not define the item type ${type}, only ${known}: runs score such items by a checker or a judge alone.`,
  ];
}

/** What a person sees of files before a dataset is made of them. */
export interface FilesPreview extends PreviewRows {
  readonly kind: 'items' | 'table';
  /** As detected. */
  readonly format: string;
  readonly options: FileOptions;
  readonly features: readonly MappableFeature[];
  /** Rows of all files; null if only reading the data tells. */
  readonly numRows: number | null;
  readonly info: JsonObject;
  readonly skipped: SkippedFiles;
}

export interface PreviewOptions {
  /** Rows that are shown, 1 to 100. */
  readonly limit: number;
  /** Bytes of JSON text that samples, items and the suggestion may take. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** What files become: items if each has items in its first lines, and no mapping makes items of their rows. */
export function kindOf(files: readonly TableFile[], mapping: Mapping | null): 'items' | 'table' {
  return mapping === null && files.every(({ detected }) => detected.areItems === true) ? 'items' : 'table';
}

/**
 * Previews files with tables or items: the columns and the first rows of the first file, and with a mapping the items that
 * an import would store. Of a large file only the first rows are read.
 *
 * @throws TableError; JsonlError, ImportErrors for the mapping; errors of the sources
 */
export async function previewFiles(
  { files, skipped }: ChosenFiles<InputFile>,
  mapping: Mapping | null,
  { limit, maxBytes, signal }: PreviewOptions,
): Promise<FilesPreview> {
  const [first] = files;
  if (first === undefined) throw new RangeError('A preview needs a file.');
  const { detected, section } = first;
  const file = labelOf(first);
  try {
    const textColumns = new Set(Object.keys(mapping?.types ?? {}));
    const options = { textColumns, wholeFile: false, signal };
    const table = await openFileTable(sourceOf(first), detected, options);
    const facts = { unreadRow: table.unreadRow, file, hint: detected.warnings?.[0] };
    const plan = planPreview(table.features.map(toMappable), mapping, facts);
    const columns = plan.columns.map(({ name }) => name);
    const kind = kindOf(files, mapping);
    let unasked = 0;
    async function* numbered(): AsyncGenerator<NumberedRow[]> {
      for await (const { firstRow, rows } of table.read({ to: limit, columns, signal })) {
        if (kind === 'items') unasked += rows.filter((row) => !hasPrompt(row)).length;
        yield rows.map((row, index) => ({ row, rowIndex: firstRow + index, split: section }));
      }
    }
    const shown = await collectRows(numbered(), plan.columns, { mapping, maxBytes });
    const warnings = [
      ...(table.warnings ?? []),
      ...plan.warnings,
      ...(mapping === null ? (shown.suggestion?.warnings ?? []) : []),
      ...promptWarnings(unasked, 'the first rows'),
    ];
    const sections = files.map((each) => {
      return { file: each.name, section: each.section, format: each.detected.format };
    });
    return {
      kind,
      format: detected.format,
      options: detected.options,
      features: plan.features,
      numRows: files.length === 1 ? (table.rowCount ?? null) : null,
      info: { sections, ...(warnings.length === 0 ? {} : { warnings }) },
      skipped,
      ...shown,
    };
  } catch (error) {
    throw locateError(error, file);
  }
}

/**
 * Previews JSON Lines that are items: their members as columns, and the first rows.
 *
 * @param options.file what errors call the lines
 * @throws TableError `invalid_row` with file and line; errors of the content
 */
export async function previewLines(
  content: ChunkSource<Uint8Array>,
  { file, limit, maxBytes, signal }: PreviewOptions & { readonly file: string },
): Promise<PreviewRows & Pick<FilesPreview, 'features'>> {
  const inference = new JsonInference();
  const rows: NumberedRow[] = [];
  for await (const raw of readRows(content, 'json', { file, signal })) {
    inference.add(raw);
    rows.push({ row: raw.row, rowIndex: rows.length, split: '' });
    if (rows.length >= limit) break;
  }
  const features = inference.features().map(toMappable);
  const shown = await collectRows([rows], features, { mapping: null, maxBytes });
  return { ...shown, features, suggestion: null };
}
