import { hasPrompt, type KnownItemType } from '@svc/jsonl-v23';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { type MappableFeature, type Mapping, mappedColumns } from '@svc/jsonl-v23/mapping';
import type { FileOptions } from '../files/file-format.ts';
import { openFileTable } from '../files/open-file-table.ts';
import { toMappable } from '../schema/features.ts';
import { planMapping, typedColumns, withTypes } from '../sections/plan-mapping.ts';
import type { SkippedFiles } from '../sections/skipped-files.ts';
import { type InputFile, labelOf, locateError, sourceOf, type TableFile } from '../sections/table-file.ts';
import type { ChosenFiles } from '../sections/unpack-files.ts';
import { type PreviewRows, RowsCollector } from './collect-rows.ts';

/** More columns are not readable, and each costs time and space in every row. */
const MAX_COLUMNS = 1000;

interface ShownColumns {
  readonly columns: readonly MappableFeature[];
  /** Says that there are more. */
  readonly warnings: readonly string[];
}

/** The columns of a preview: the first thousand, and further ones that the mapping names. */
export function shownColumns(all: readonly MappableFeature[], mapping: Mapping | null): ShownColumns {
  if (all.length <= MAX_COLUMNS) return { columns: all, warnings: [] };
  const named = new Set(mapping === null ? [] : mappedColumns(mapping));
  return {
    columns: all.filter(({ name }, index) => index < MAX_COLUMNS || named.has(name)),
    warnings: [`The table has ${all.length} columns. The preview shows the first ${MAX_COLUMNS}.`],
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
export function mappingWarnings({ defaultType }: Pick<Mapping, 'defaultType'>): string[] {
  if (defaultType === undefined || Object.hasOwn(DEFINED_TYPES, defaultType)) return [];
  const type = JSON.stringify(defaultType.slice(0, 100));
  const known = Object.keys(DEFINED_TYPES).join(', ');
  return [
    `The format does not define the item type ${type}, only ${known}: runs score such items by a checker or a judge alone.`,
  ];
}

/** Says that items have nothing to ask, probably a mistake. @param among what they are counted among, if not all */
export function promptWarnings(count: number, among?: string): string[] {
  if (count === 0) return [];
  const items = count === 1 ? '1 item has' : `${count} items have`;
  return [
    `${items} neither a prompt nor messages${among === undefined ? '' : `, of ${among}`}: runs do not ask a model for them.`,
  ];
}

/** Names that a response lists. */
const MAX_LISTED = 100;

/** What responses say of columns that no key of a mapping uses: nothing if there are none. */
export function unusedColumnsJson(columns: Iterable<string>): JsonObject {
  const names = [...columns];
  if (names.length === 0) return {};
  const total = names.length > MAX_LISTED ? { unused_columns_total: names.length } : {};
  return { unused_columns: names.slice(0, MAX_LISTED), ...total };
}

/** Adds to the `warnings` of a preview's `info`. */
export function withWarnings(info: JsonObject, warnings: readonly string[]): JsonObject {
  if (warnings.length === 0) return info;
  const before = info['warnings'];
  return { ...info, warnings: [...(Array.isArray(before) ? before : []), ...warnings] };
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
    const options = { textColumns: typedColumns(mapping), wholeFile: false, signal };
    const table = await openFileTable(sourceOf(first), detected, options);
    const allColumns = table.features.map(toMappable);
    if (mapping !== null) {
      planMapping(mapping, allColumns, { unreadRow: table.unreadRow, file, hint: detected.warnings?.[0] });
    }
    const { columns, warnings } = shownColumns(allColumns, mapping);
    const collector = new RowsCollector(columns, mapping, maxBytes);
    const names = columns.map(({ name }) => name);
    const kind = kindOf(files, mapping);
    let index = 0;
    let unasked = 0;
    for await (const { rows } of table.read({ to: limit, columns: names, signal })) {
      for (const row of rows) {
        await collector.add(row, index, section);
        if (kind === 'items' && !hasPrompt(row)) unasked += 1;
        index += 1;
      }
      if (collector.isFull) break;
    }
    const sections = files.map((each) => {
      return { file: each.name, section: each.section, format: each.detected.format };
    });
    const shown = collector.end();
    return {
      kind,
      format: detected.format,
      options: detected.options,
      features: withTypes(columns, mapping),
      numRows: files.length === 1 ? (table.rowCount ?? null) : null,
      info: withWarnings({ sections }, [
        ...warnings,
        ...(table.warnings ?? []),
        ...(mapping === null ? (shown.suggestion?.warnings ?? []) : mappingWarnings(mapping)),
        ...promptWarnings(unasked, 'the first rows'),
      ]),
      skipped,
      ...shown,
    };
  } catch (error) {
    throw locateError(error, file);
  }
}
