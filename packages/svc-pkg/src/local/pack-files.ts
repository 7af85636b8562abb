import { createHash } from 'node:crypto';
import { checkItems, type Item, JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import {
  hasPrompt,
  ImportErrors,
  type ImportLimits,
  ImportMeter,
  itemSize,
  jsonText,
  type LocatedError,
  NO_REASON,
  type UnreadRow,
} from '@svc/jsonl-v23/internal';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { compileMapping, type Mapping, type RowMapper } from '@svc/jsonl-v23/mapping';
import type { PackageGenerator } from '@svc/pkg-format';
import { type WrittenPackage, writePackageFile } from '@svc/pkg-format/node';
import type { Features } from '@svc/tabular';
import {
  fileSchema,
  locateError,
  mergeFeatures,
  openSection,
  promptWarnings,
  readTextFile,
  type SkippedFiles,
  type SkippedRows,
  skippedFilesJson,
  sourceOf,
  type TableFile,
  toMappable,
  unusedColumnsJson,
} from '@svc/tabular/internal';
import type { GivenMapping } from '../commands/table-flags.ts';
import type { Result } from '../output/print.ts';
import { countOf, formatFacts, noteFacts, printableValue } from '../text/format.ts';
import type { LocalFile, LocalFiles } from './open-files.ts';

type LocalTable = TableFile<LocalFile>;

/** What a package of files has besides their rows. */
export interface PackedFacts {
  readonly name: string;
  readonly description: string | undefined;
}

/** Where a package is written. */
export interface PackTarget {
  readonly path: string;
  readonly force: boolean;
  /** The program that writes the package. */
  readonly generator: PackageGenerator;
  readonly signal: AbortSignal;
  readonly onProgress: (itemCount: number) => void;
}

/**
 * Writes a package of files, as an upload of them stores it: the same items, with the same version hash. Each file
 * becomes a section: its rows by the mapping, or without one its lines, which are items.
 *
 * @param limits of what the rows become
 * @throws JsonlError with file, line or row, `package_limit`, or ImportErrors for several; TableError; as `writePackageFile`
 */
export async function packFiles(
  { files, sentBytes, skipped: skippedFiles }: Omit<LocalFiles, keyof AsyncDisposable>,
  given: GivenMapping | null,
  { name, description }: PackedFacts,
  { path, force, generator, signal, onProgress }: PackTarget,
  limits?: ImportLimits,
): Promise<WrittenPackage & Pick<PackedRows, 'skipped' | 'skippedFiles' | 'unaskedCount' | 'unusedColumns'>> {
  const skipped = given?.mapping.invalidRows === 'skip' ? new SkippedCounter() : null;
  const features: Features[] = [];
  const errors = new ErrorCollector();
  const meter = new ImportMeter(limits);
  meter.setFileBytes(sentBytes);
  const notes = { unaskedCount: 0, unusedColumns: new Set<string>() };
  const context = { skipped, errors, meter, features, notes, signal };
  const sections = files.map((file, index) => ({
    name: file.section,
    items: errors.atEndOf(
      given === null ? lineItems(file, context) : rowItems(file, given.mapping, context),
      index === files.length - 1,
    ),
  }));
  const hashed: (LocalTable & { readonly sha256: string })[] = [];
  for (const file of files) hashed.push({ ...file, sha256: await sha256Of(file, signal) });
  const written = await writePackageFile(
    path,
    {
      name,
      description: description ?? null,
      sections,
      schema: () =>
        fileSchema(
          hashed,
          { features: mergeFeatures(features).map(toMappable), mapping: given?.wire ?? null, skipped },
          skippedFiles,
        ),
    },
    { force, generator, signal, onProgress },
  );
  return { ...written, skipped: skipped?.count ?? 0, skippedFiles, ...notes };
}

interface PackContext {
  /** Receives rows that do not become items; null if they are errors. */
  readonly skipped: SkippedCounter | null;
  readonly errors: ErrorCollector;
  readonly meter: ImportMeter;
  /** Receives the columns of each table. */
  readonly features: Features[];
  /** Remarks on the items and the columns. */
  readonly notes: { unaskedCount: number; readonly unusedColumns: Set<string> };
  readonly signal: AbortSignal;
}

/** The lines of a file as items. */
async function* lineItems(
  file: LocalTable,
  { errors, meter, notes, signal }: PackContext,
): AsyncGenerator<Item> {
  const content = readTextFile(sourceOf(file), file.detected, { signal });
  for await (const { item, errors: found, location } of checkItems(content, { file: file.label, signal })) {
    meter.addRows(1, location);
    if (found === undefined) {
      meterItem(meter, item, location);
      if (!hasPrompt(item)) notes.unaskedCount += 1;
      yield item;
    } else {
      meter.addItems({ bytes: 0, skippedRows: 1 }, location);
      for (const error of found) errors.add(error);
    }
  }
}

/** The rows of a file as items. */
async function* rowItems(
  file: LocalTable,
  mapping: Mapping,
  { skipped, errors, meter, features, notes, signal }: PackContext,
): AsyncGenerator<Item> {
  const { name, label, section: split } = file;
  const opened = await openSection(file, mapping, { wholeFile: true, signal });
  const { table, columns, features: mapped, unused } = opened;
  for (const column of unused) notes.unusedColumns.add(column);
  features.push(table.features);
  const toItem = compileMapping(mapping, mapped, { split });
  async function* rows(): AsyncGenerator<LocatedRow[]> {
    for await (const batch of table.read({ columns, signal })) {
      yield batch.rows.map((row, index) => {
        const unread = batch.invalid?.get(index);
        return { row, rowIndex: batch.firstRow + index, split, unread: unread === null ? NO_REASON : unread };
      });
    }
  }
  // A person finds an error by the path, and a skipped row by the name that the schema has.
  yield* mapRows(rows(), toItem, {
    invalid: skipped ?? errors,
    meter,
    file: skipped === null ? label : name,
  });
}

async function sha256Of(file: LocalTable, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of sourceOf(file).stream(signal)) hash.update(chunk);
  return hash.digest('hex');
}

/** A package that was made of rows. */
export interface PackedRows extends WrittenPackage {
  readonly input: readonly string[];
  readonly output: string;
  readonly name: string;
  /** Rows that did not become items. */
  readonly skipped: number;
  /** Files that are no tables. */
  readonly skippedFiles?: SkippedFiles;
  /** Items without a prompt or messages. */
  readonly unaskedCount?: number;
  /** Columns that no key of the mapping uses. */
  readonly unusedColumns?: Iterable<string>;
}

/** The report on a package that was made of rows. */
export function writtenResult({
  input,
  output,
  name,
  versionHash,
  itemCount,
  sections,
  skipped,
  skippedFiles = { first: [], total: 0 },
  unaskedCount = 0,
  unusedColumns = [],
}: PackedRows): Result {
  const warnings = promptWarnings(unaskedCount);
  const unused = unusedColumnsJson(unusedColumns);
  return {
    text: () =>
      formatFacts([
        ['output', output],
        ['name', printableValue(name)],
        ['version hash', versionHash],
        ['items', `${itemCount} in ${countOf(sections.length, 'section')}`],
        ['skipped', skipped === 0 ? null : countOf(skipped, 'row')],
        ...noteFacts({
          warnings,
          ...unused,
          skipped_files: skippedFiles.first,
          skipped_files_total: skippedFiles.total,
        }),
      ]),
    json: () =>
      jsonText({
        input,
        output,
        name,
        version_hash: versionHash,
        item_count: itemCount,
        sections: sections.map((section) => ({ name: section.name, item_count: section.itemCount })),
        skipped_count: skipped,
        ...(warnings.length === 0 ? {} : { warnings }),
        ...unused,
        ...skippedFilesJson(skippedFiles),
      }),
  };
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

/** A row with its location. */
export interface LocatedRow {
  readonly row: JsonObject;
  /** 0-based. */
  readonly rowIndex: number;
  readonly split: string;
  /** Why it cannot be read, if reading continues after such rows. */
  readonly unread?: UnreadRow | undefined;
}

const MAX_NAMED = 100;

/** Counts the rows that a mapping skips because they do not become items. */
export class SkippedCounter implements SkippedRows {
  #count = 0;
  readonly rows: JsonlError[] = [];

  get count(): number {
    return this.#count;
  }

  add(error: JsonlError): void {
    this.#count += 1;
    if (this.rows.length < MAX_NAMED) this.rows.push(error);
  }
}

/** What {@link mapRows} reports to. */
export interface RowSinks {
  /** Receives the rows that do not become items. */
  readonly invalid: { add(error: JsonlError): void };
  readonly meter: ImportMeter;
  /** The file with the rows, as errors name it. */
  readonly file?: string;
}

/**
 * The items of rows.
 *
 * @throws JsonlError `package_limit`; what the rows throw
 */
export async function* mapRows(
  batches: AsyncIterable<readonly LocatedRow[]>,
  toItem: RowMapper,
  { invalid, meter, file }: RowSinks,
): AsyncGenerator<Item> {
  for await (const batch of batches) {
    for (const { row, rowIndex, split, unread } of batch) {
      const location = file === undefined ? { row: rowIndex } : { file, row: rowIndex };
      let item: Item;
      meter.addRows(1, location);
      try {
        if (unread !== undefined) {
          throw new JsonlError('invalid_row', unread.message, { ...unread.location, row: rowIndex });
        }
        item = toItem(row, rowIndex, split);
      } catch (error) {
        if (!(error instanceof JsonlError)) throw error;
        invalid.add(file === undefined ? error : (locateError(error, file) as JsonlError));
        meter.addItems({ bytes: 0, skippedRows: 1 }, location);
        continue;
      }
      meterItem(meter, item, location);
      yield item;
    }
  }
}

/** Counts an item. @throws JsonlError `package_limit` */
export function meterItem(meter: ImportMeter, item: Item, location: SourceLocation): void {
  const { textBytes, base64Bytes } = itemSize(item);
  meter.addItems({ bytes: textBytes, embeddedBytes: Math.floor(base64Bytes * 0.75) }, location);
}

const MAX_ERRORS = 100;

/** Collects errors after which reading continues. */
export class ErrorCollector {
  readonly #errors: LocatedError[] = [];
  #total = 0;

  add(error: LocatedError): void {
    this.#total += 1;
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(error);
  }

  /** Passes items on. @throws the only error, or ImportErrors, after the last item */
  async *atEndOf<T>(items: AsyncIterable<T>, isLast = true): AsyncGenerator<T> {
    yield* items;
    if (isLast) this.throwIfAny();
  }

  /** @throws the only error, or ImportErrors */
  throwIfAny(): void {
    const [first, ...others] = this.#errors;
    if (first === undefined) return;
    throw others.length === 0 ? first : new ImportErrors(first, this.#errors, this.#total);
  }
}
