import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type Item, readItems } from '@svc/jsonl-v23';
import { mappedColumns } from '@svc/jsonl-v23/internal';
import { compileMapping, type Mapping } from '@svc/jsonl-v23/mapping';
import { type WrittenPackage, writePackageFile } from '@svc/pkg-format/node';
import { type Features, mergeFeatures, openFileTable, readTextFile, type Table } from '@svc/tabular';
import { fileSchema, tableSource, toMappable } from '@svc/tabular/internal';
import type { GivenMapping } from '../mapping/mapping-options.ts';
import { mapRows, SkippedCounter } from './map-rows.ts';
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
 * @throws JsonlError with file, line or row; TableError; as `writePackageFile`
 */
export async function packFiles(
  files: readonly LocalFile[],
  given: GivenMapping | null,
  { name, description }: PackedFacts,
  { path, force, signal, onProgress }: PackTarget,
): Promise<WrittenPackage & { readonly skipped: number }> {
  const skipped = given?.mapping.invalidRows === 'skip' ? new SkippedCounter() : null;
  const features: Features[] = [];
  const sections = files.map((file) => ({
    name: file.section,
    items:
      given === null
        ? lineItems(file, signal)
        : rowItems(file, given.mapping, {
            skipped,
            signal,
            onTable: (table) => features.push(table.features),
          }),
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

/** The lines of a file as items. */
async function* lineItems({ shown, source, detected }: LocalFile, signal: AbortSignal): AsyncGenerator<Item> {
  const content = readTextFile(tableSource(shown, source), detected, { signal });
  for await (const { item } of readItems(content, { file: shown, signal })) yield item;
}

interface RowOptions {
  readonly skipped: SkippedCounter | null;
  readonly signal: AbortSignal;
  readonly onTable: (table: Table) => void;
}

/** The rows of a file as items. */
async function* rowItems(
  { name, shown, source, detected, section }: LocalFile,
  mapping: Mapping,
  { skipped, signal, onTable }: RowOptions,
): AsyncGenerator<Item> {
  const textColumns = new Set(Object.keys(mapping.types ?? {}));
  const table = await openFileTable(tableSource(shown, source), detected, {
    textColumns,
    skipsInvalid: skipped !== null,
    signal,
  });
  onTable(table);
  const toItem = compileMapping(mapping, table.features.map(toMappable), { split: section });
  const columns = mappedColumns(mapping);
  async function* rows() {
    for await (const batch of table.read({ columns, signal })) {
      yield batch.rows.map((row, index) => ({
        row,
        rowIndex: batch.firstRow + index,
        split: section,
        unread: batch.invalid?.get(index),
      }));
    }
  }
  // A person finds an error by the path, and a skipped row by the name that the schema has.
  yield* mapRows(rows(), toItem, skipped, skipped === null ? shown : name);
}

async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk);
  return hash.digest('hex');
}
