import { createHash } from 'node:crypto';
import type { HubRow } from '@svc/hub-client';
import { checkItems, hasPrompt, type Item, JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import { itemSize } from '@svc/jsonl-v23/assets';
import {
  ImportErrors,
  type ImportLimits,
  ImportMeter,
  type LocatedError,
  NO_REASON,
  promptWarnings,
  unusedColumnsJson,
} from '@svc/jsonl-v23/imports';
import { compileMapping, type Mapping, type RowMapper } from '@svc/jsonl-v23/mapping';
import { type WriteFileOptions, writePackageFile } from '@svc/pkg-format/node';
import { type Features, mergeFeatures, readTextFile, toMappable } from '@svc/tabular';
import {
  fileSchema,
  locateError,
  openSection,
  skippedFilesJson,
  sourceOf,
  type TableFile,
} from '@svc/tabular/datasets';
import type { GivenMapping } from '../commands/table-flags.ts';
import { factsResult, type Result } from '../output/print.ts';
import { countOf, noteFacts, printableValue } from '../text/format.ts';
import type { LocalFile, LocalFiles } from './open-files.ts';

type LocalTable = TableFile<LocalFile>;

/**
 * Writes a package of files, as an upload of them stores it: the same items, with the same version hash. Each file
 * becomes a section: its rows by the mapping, or without one its lines, which are items.
 */
export async function packFiles(
  { files, sentBytes, skipped: skippedFiles }: Omit<LocalFiles, keyof AsyncDisposable>,
  given: GivenMapping | null,
  { name, description }: { readonly name: string; readonly description: string | undefined },
  path: string,
  options: WriteFileOptions & { readonly signal: AbortSignal },
  limits?: ImportLimits,
) {
  const maker = new ItemMaker(given?.mapping ?? null, sentBytes, limits);
  const features: Features[] = [];
  const { signal } = options;
  const sections = files.map((file, index) => {
    const items =
      given === null ? maker.ofLines(file, signal) : rowItems(file, given.mapping, maker, features, signal);
    return { name: file.section, items: index === files.length - 1 ? maker.checked(items) : items };
  });
  const hashed: (LocalTable & { readonly sha256: string })[] = [];
  for (const file of files) hashed.push({ ...file, sha256: await sha256Of(file, signal) });
  const rows = () => {
    const merged = mergeFeatures(features).map(toMappable);
    return { features: merged, mapping: given?.wire ?? null, skipped: maker.skipped };
  };
  const written = await writePackageFile(
    path,
    {
      ...{ name, description: description ?? null, sections },
      schema: () => fileSchema(hashed, rows(), skippedFiles),
    },
    options,
  );
  return { ...written, ...maker.notes, skippedFiles };
}

/** The rows of a file as items. @param features receives the columns */
async function* rowItems(
  file: LocalTable,
  mapping: Mapping,
  maker: ItemMaker,
  features: Features[],
  signal: AbortSignal,
): AsyncGenerator<Item> {
  const { name, label, section: split } = file;
  const opened = await openSection(file, mapping, { wholeFile: true, signal });
  const { table, columns, features: mapped, unused } = opened;
  for (const column of unused) maker.unusedColumns.add(column);
  features.push(table.features);
  async function* rows(): AsyncGenerator<HubRow[]> {
    for await (const batch of table.read({ columns, signal })) {
      yield batch.rows.map((row, index) => {
        const unread = batch.invalid?.get(index);
        const located = { row, rowIndex: batch.firstRow + index, split };
        return unread === undefined ? located : { ...located, unread: unread ?? NO_REASON };
      });
    }
  }
  // A person finds an error by the path, and a skipped row by the name that the schema has.
  const shown = maker.skipped === null ? label : name;
  yield* maker.ofRows(rows(), compileMapping(mapping, mapped, { split }), shown);
}

async function sha256Of(file: LocalTable, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of sourceOf(file).stream(signal)) hash.update(chunk);
  return hash.digest('hex');
}

export function writtenResult(
  {
    input,
    output,
    name,
  }: { readonly input: readonly string[]; readonly output: string; readonly name: string },
  written: Awaited<ReturnType<typeof packFiles>>,
): Result {
  const { versionHash, itemCount, sections, skipped } = written;
  const warnings = promptWarnings(written.unaskedCount);
  const notes = {
    ...(warnings.length === 0 ? {} : { warnings }),
    ...unusedColumnsJson(written.unusedColumns),
    ...skippedFilesJson(written.skippedFiles),
  };
  return factsResult(
    [
      ['output', output],
      ['name', printableValue(name)],
      ['version hash', versionHash],
      ['items', `${itemCount} in ${countOf(sections.length, 'section')}`],
      ['skipped', skipped === 0 ? null : countOf(skipped, 'row')],
      ...noteFacts(notes as Parameters<typeof noteFacts>[0]),
    ],
    {
      ...{ input, output, name, version_hash: versionHash, item_count: itemCount },
      sections: sections.map((section) => ({ name: section.name, item_count: section.itemCount })),
      skipped_count: skipped,
      ...notes,
    },
  );
}

/** Characters that some file system refuses. */
const UNSAFE = /[\p{Cc}\p{Cs}<>:"/\\|?*]+/gu;
const MAX_LENGTH = 120;

/** The name of a dataset as a file name without extension. */
export function fileNameOf(name: string): string {
  const safe = name
    .normalize('NFC')
    .replace(UNSAFE, '_')
    .trim()
    .replace(/^[-.\s]+/, '');
  return [...safe].slice(0, MAX_LENGTH).join('') || 'dataset';
}

/** Errors that are listed, and skipped rows that are named. */
const MAX_NAMED = 100;

/** Makes items within the limits of an import, and collects what becomes none. */
export class ItemMaker {
  readonly #meter: ImportMeter;
  readonly #errors: LocatedError[] = [];
  #errorsTotal = 0;
  /** The rows that the mapping skips; null if they are errors. */
  readonly skipped: { count: number; readonly rows: JsonlError[] } | null;
  /** Columns that no key of the mapping uses. */
  readonly unusedColumns: Set<string> = new Set();
  #unaskedCount = 0;

  /** @param fileBytes of all files, before they are unpacked */
  constructor(mapping: Mapping | null, fileBytes: number, limits?: ImportLimits) {
    this.#meter = new ImportMeter(limits);
    this.#meter.setFileBytes(fileBytes);
    this.skipped = mapping?.invalidRows === 'skip' ? { count: 0, rows: [] } : null;
  }

  /** Remarks on the items and the columns. */
  get notes() {
    const { skipped, unusedColumns } = this;
    return { skipped: skipped?.count ?? 0, unaskedCount: this.#unaskedCount, unusedColumns };
  }

  async *ofLines(file: LocalTable, signal: AbortSignal): AsyncGenerator<Item> {
    const content = readTextFile(sourceOf(file), file.detected, { signal });
    for await (const { item, errors, location } of checkItems(content, { file: file.label, signal })) {
      this.#meter.addRows(1, location);
      if (errors === undefined) {
        this.#count(item, location);
        if (!hasPrompt(item)) this.#unaskedCount += 1;
        yield item;
      } else {
        this.#meter.addItems({ bytes: 0, skippedRows: 1 }, location);
        for (const error of errors) this.#addError(error);
      }
    }
  }

  /** @param file the file with the rows, as errors name it */
  async *ofRows(
    batches: AsyncIterable<readonly HubRow[]>,
    toItem: RowMapper,
    file?: string,
  ): AsyncGenerator<Item> {
    for await (const batch of batches) {
      for (const { row, rowIndex, split, unread } of batch) {
        const location = file === undefined ? { row: rowIndex } : { file, row: rowIndex };
        let item: Item;
        this.#meter.addRows(1, location);
        try {
          if (unread !== undefined) {
            throw new JsonlError('invalid_row', unread.message, { ...unread.location, row: rowIndex });
          }
          item = toItem(row, rowIndex, split);
        } catch (error) {
          if (!(error instanceof JsonlError)) throw error;
          this.#addRow(file === undefined ? error : (locateError(error, file) as JsonlError));
          this.#meter.addItems({ bytes: 0, skippedRows: 1 }, location);
          continue;
        }
        this.#count(item, location);
        yield item;
      }
    }
  }

  /** Passes the last items on. @throws the only error of all, or ImportErrors, after the last item */
  async *checked<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    yield* items;
    const [first, ...others] = this.#errors;
    if (first === undefined) return;
    throw others.length === 0 ? first : new ImportErrors(first, this.#errors, this.#errorsTotal);
  }

  #count(item: Item, location: SourceLocation): void {
    const { textBytes, base64Bytes } = itemSize(item);
    this.#meter.addItems({ bytes: textBytes, embeddedBytes: Math.floor(base64Bytes * 0.75) }, location);
  }

  #addRow(error: JsonlError): void {
    if (this.skipped === null) this.#addError(error);
    else {
      this.skipped.count += 1;
      if (this.skipped.rows.length < MAX_NAMED) this.skipped.rows.push(error);
    }
  }

  #addError(error: LocatedError): void {
    this.#errorsTotal += 1;
    if (this.#errors.length < MAX_NAMED) this.#errors.push(error);
  }
}
