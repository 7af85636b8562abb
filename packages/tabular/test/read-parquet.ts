import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { openParquetTable } from '../src/parquet/parquet-table.ts';
import { dtypeOf } from '../src/schema/features.ts';
import { memoryFile } from './memory-file.ts';

/** Reads a whole file. */
export async function readParquetFile(
  bytes: Uint8Array,
): Promise<{ dtypes: Record<string, string>; rows: JsonObject[]; texts: string[] }> {
  const options = { everyFooter: true, signal: undefined };
  const table = await openParquetTable([memoryFile(bytes)], options);
  const columns = table.features.map(({ name }) => name);
  const range = { from: 0, columns, signal: undefined };
  const rows: JsonObject[] = [];
  for await (const batch of table.read(range)) rows.push(...batch.rows);
  const dtypes = Object.fromEntries(table.features.map(({ name, feature }) => [name, dtypeOf(feature)]));
  return { dtypes, rows, texts: rows.map((row) => canonicalJson(row)) };
}
