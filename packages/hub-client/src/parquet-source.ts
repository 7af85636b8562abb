import { type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23';
import { compileCell } from './cell.ts';
import type { Features } from './features.ts';
import type { RemoteFile } from './open-file.ts';
import { applyDeclared } from './parquet-features.ts';
import { type ColumnBatch, openParquet, type ParquetFile, readParquet } from './read-parquet.ts';
import type { RowBatch, SplitSource } from './split-source.ts';
import { uniteFeatures } from './unite-features.ts';

/** Footers that are read at the same time. */
const CONCURRENT_FOOTERS = 6;
/** Footers kept in memory; those of further files are read again when their rows are. */
const MAX_KEPT_FOOTERS = 64;
/** Rows are handed on in batches of about this size. */
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Opens the Parquet files of a split. What the files have in common is taken from the first footer, or from all of
 * them, which tells the exact count of rows too.
 *
 * @param options.everyFooter whether all files are to be looked at, two requests each
 */
export async function openParquetSource(
  files: readonly RemoteFile[],
  options: { declared: Features | null; everyFooter: boolean; signal: AbortSignal | undefined },
): Promise<SplitSource> {
  const { declared, signal } = options;
  const kept = new Map<number, ParquetFile>();
  const counts: number[] = [];
  const found: Features[] = [];

  async function open(index: number, reading: AbortSignal | undefined): Promise<ParquetFile> {
    const known = kept.get(index);
    if (known !== undefined) return known;
    const file = await openParquet(files[index]!, reading);
    counts[index] = file.rowCount;
    if (kept.size < MAX_KEPT_FOOTERS) kept.set(index, file);
    return file;
  }

  const first = options.everyFooter ? files.length : Math.min(files.length, 1);
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(first, CONCURRENT_FOOTERS) }, async () => {
      while (next < first) {
        const index = next++;
        found[index] = (await open(index, signal)).features;
      }
    }),
  );
  const features = applyDeclared(uniteFeatures(found), declared, { addMissing: true });
  const atLeastRows = counts.reduce((sum, count) => sum + count, 0);

  return {
    features,
    rowCount: first === files.length ? atLeastRows : null,
    atLeastRows,
    async *read({ from, to, columns, signal: reading }) {
      const end = to ?? Number.POSITIVE_INFINITY;
      let firstRow = 0;
      let ahead: Promise<ParquetFile> | null = null;
      for (let index = 0; index < files.length && firstRow < end; index++) {
        const known = counts[index];
        if (known !== undefined && firstRow + known <= from) {
          firstRow += known;
          continue;
        }
        const file: ParquetFile = await (ahead ?? open(index, reading));
        // The next footer is fetched while this file's rows are.
        const more = index + 1 < files.length && firstRow + file.rowCount < end;
        ahead = more ? open(index + 1, reading) : null;
        ahead?.catch(() => undefined);
        const range = {
          from: Math.max(from - firstRow, 0),
          to: Math.min(end - firstRow, file.rowCount),
        };
        if (range.from < range.to) yield* readFile(file, firstRow, range, columns, declared, reading);
        firstRow += file.rowCount;
      }
    },
  };
}

async function* readFile(
  file: ParquetFile,
  firstRow: number,
  range: { from: number; to: number },
  names: readonly string[],
  declared: Features | null,
  signal: AbortSignal | undefined,
): AsyncGenerator<RowBatch> {
  const own = new Map(applyDeclared(file.features, declared).map(({ name, feature }) => [name, feature]));
  const columns = names.map((name): Column => {
    const feature = own.get(name);
    return { name, convert: feature === undefined ? null : compileCell(feature) };
  });
  const present = names.filter((name) => own.has(name));
  const batchRows = rowsPerBatch(file, present);
  for await (const batch of readParquet(file, { columns: present, ...range, signal })) {
    for (let at = 0; at < batch.rowCount; at += batchRows) {
      const end = Math.min(at + batchRows, batch.rowCount);
      yield { firstRow: firstRow + batch.firstRow + at, rows: toRows(batch, columns, at, end) };
    }
  }
}

interface Column {
  name: string;
  /** null where the file lacks the column. */
  convert: ((cell: unknown) => JsonValue) | null;
}

function toRows(batch: ColumnBatch, columns: readonly Column[], from: number, to: number): JsonObject[] {
  const rows: JsonObject[] = Array.from({ length: to - from }, () => ({}));
  for (const { name, convert } of columns) {
    const cells = batch.columns.get(name);
    for (let row = from; row < to; row++) {
      const value = cells === undefined || convert === null ? null : convert(cells[row]);
      // An own member of any name; assigning this one would change the object's prototype.
      if (name === '__proto__') setMember(rows[row - from]!, name, value);
      else rows[row - from]![name] = value;
    }
  }
  return rows;
}

function rowsPerBatch({ footer }: ParquetFile, names: readonly string[]): number {
  const wanted = new Set(names);
  const leaves = footer.columns.filter(({ name }) => wanted.has(name)).flatMap((column) => column.leaves);
  let bytes = 0;
  for (const { chunks } of footer.groups) for (const leaf of leaves) bytes += chunks[leaf]!.uncompressedBytes;
  return Math.max(1, Math.floor(BATCH_BYTES / (bytes / Math.max(footer.rowCount, 1) + 1)));
}
