import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { openParquetTable } from '../src/parquet/parquet-table.ts';
import { dtypeOf } from '../src/schema/features.ts';
import { memoryFile } from './memory-file.ts';

/** Reads a whole file, as rows and as cells; both must be the same. */
export async function readParquetFile(
  bytes: Uint8Array,
): Promise<{ dtypes: Record<string, string>; rows: JsonObject[]; texts: string[] }> {
  const options = { everyFooter: true, signal: undefined };
  const table = await openParquetTable([memoryFile(bytes)], options);
  const columns = table.features.map(({ name }) => name);
  const range = { from: 0, columns, signal: undefined };
  const rows: JsonObject[] = [];
  for await (const batch of table.read(range)) rows.push(...batch.rows);
  const cells: string[] = [];
  for await (const batch of table.readCells(range)) {
    let start = 0;
    for (const end of batch.ends) {
      cells.push(Buffer.from(batch.bytes.subarray(start, end)).toString());
      start = end;
    }
  }
  const expected = rows.flatMap((row) => columns.map((name) => canonicalJson(row[name] ?? null)));
  if (cells.join('\n') !== expected.join('\n')) throw new Error(`Rows are ${expected}, cells are ${cells}.`);
  const dtypes = Object.fromEntries(table.features.map(({ name, feature }) => [name, dtypeOf(feature)]));
  return { dtypes, rows, texts: rows.map((row) => canonicalJson(row)) };
}
