import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { checkItems, type Item } from '@svc/jsonl-v23';
import { type ImportLimits, ImportMeter, mappedColumns, NO_REASON } from '@svc/jsonl-v23/internal';
import { compileMapping, type Mapping } from '@svc/jsonl-v23/mapping';
import { type WrittenPackage, writePackageFile } from '@svc/pkg-format/node';
import { type Features, mergeFeatures, openFileTable, readTextFile, type Table } from '@svc/tabular';
import { fileSchema, tableSource, toMappable } from '@svc/tabular/internal';
import { ErrorCollector } from '../errors/listed-errors.ts';
import type { GivenMapping } from '../mapping/mapping-options.ts';
import { mapRows, meterItem, SkippedCounter } from './map-rows.ts';
import type { LocalFile } from './open-files.ts';

/** What a package of files has besides their rows. */
export interface PackedFacts {
  readonly name: string;
  readonly description: string | undefined;
}

/** Where a package is written. */
export interface PackTarget {
  readonly path: string;
  readonly force: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (itemCount: number) => void;
}

/**
 * Writes a package of files, as an upload of them stores it: the same items, with the same version hash. Each file
 * becomes a section: its rows by the mapping, or without one its lines, which are items.
 *
 * @param limits of what the rows become
 * @throws JsonlError with file, line or row, `package_limit`, or ListedErrors for several; TableError; as `writePackageFile`
 */
export async function packFiles(
  files: readonly LocalFile[],
  given: GivenMapping | null,
  { name, description }: PackedFacts,
  { path, force, signal, onProgress }: PackTarget,
  limits?: ImportLimits,
): Promise<WrittenPackage & { readonly skipped: number }> {
  const skipped = given?.mapping.invalidRows === 'skip' ? new SkippedCounter() : null;
  const features: Features[] = [];
  const errors = new ErrorCollector();
  const meter = new ImportMeter(limits);
  meter.setFileBytes(files.reduce((sum, { source }) => sum + source.byteLength, 0));
  const sections = files.map((file, index) => ({
    name: file.section,
    items: withErrors(
      given === null
        ? lineItems(file, { errors, meter, signal })
        : rowItems(file, given.mapping, {
            skipped,
            errors,
            meter,
            signal,
            onTable: (table) => features.push(table.features),
          }),
      index === files.length - 1 ? errors : null,
    ),
  }));
  const facts = await Promise.all(
    files.map(async ({ name, path: file, source, detected }) => {
      return { name, bytes: source.byteLength, sha256: await sha256Of(file, signal), detected };
    }),
  );
  const written = await writePackageFile(
    path,
    {
      name,
      description: description ?? null,
      sections,
      schema: () =>
        fileSchema(facts, {
          features: mergeFeatures(features).map(toMappable),
          mapping: given?.wire ?? null,
          skipped,
        }),
    },
    { force, signal, onProgress },
  );
  return { ...written, skipped: skipped?.count ?? 0 };
}

/** The same items; throws the errors of all files at the end of the last one. */
async function* withErrors(items: AsyncIterable<Item>, errors: ErrorCollector | null): AsyncGenerator<Item> {
  yield* items;
  errors?.throwIfAny();
}

/** The lines of a file as items. */
async function* lineItems(
  { shown, source, detected }: LocalFile,
  { errors, meter, signal }: LineOptions,
): AsyncGenerator<Item> {
  const content = readTextFile(tableSource(shown, source), detected, { signal });
  for await (const { item, errors: found, location } of checkItems(content, { file: shown, signal })) {
    meter.addRows(1, location);
    if (found === undefined) {
      meterItem(meter, item, location);
      yield item;
    } else {
      meter.addItems({ bytes: 0, skippedRows: 1 }, location);
      for (const error of found) errors.add(error);
    }
  }
}

interface LineOptions {
  readonly errors: ErrorCollector;
  readonly meter: ImportMeter;
  readonly signal: AbortSignal;
}

interface RowOptions extends LineOptions {
  /** Receives rows that do not become items; null if they are errors. */
  readonly skipped: SkippedCounter | null;
  readonly onTable: (table: Table) => void;
}

/** The rows of a file as items. */
async function* rowItems(
  { name, shown, source, detected, section }: LocalFile,
  mapping: Mapping,
  { skipped, errors, meter, signal, onTable }: RowOptions,
): AsyncGenerator<Item> {
  const textColumns = new Set(Object.keys(mapping.types ?? {}));
  const table = await openFileTable(tableSource(shown, source), detected, {
    textColumns,
    // Reading goes on after an invalid row, to find all of them.
    skipsInvalid: true,
    signal,
  });
  onTable(table);
  const toItem = compileMapping(mapping, table.features.map(toMappable), { split: section });
  const columns = mappedColumns(mapping);
  async function* rows() {
    for await (const batch of table.read({ columns, signal })) {
      yield batch.rows.map((row, index) => {
        const unread = batch.invalid?.get(index);
        const rowIndex = batch.firstRow + index;
        return { row, rowIndex, split: section, unread: unread === null ? NO_REASON : unread };
      });
    }
  }
  // A person finds an error by the path, and a skipped row by the name that the schema has.
  const file = skipped === null ? shown : name;
  yield* mapRows(rows(), toItem, { skipped: skipped ?? errors, meter, file });
}

async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk);
  return hash.digest('hex');
}
