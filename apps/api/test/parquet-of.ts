import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

/** A Parquet file that another program writes. */
export async function parquetOf(rows: readonly Record<string, unknown>[]): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-parquet-'));
  const [json, file] = [join(folder, 'rows.json'), join(folder, 'rows.parquet')];
  await writeFile(json, JSON.stringify(rows));
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await connection.run(`COPY (SELECT * FROM read_json('${json}')) TO '${file}' (FORMAT parquet)`);
  connection.closeSync();
  instance.closeSync();
  const content = await readFile(file);
  await rm(folder, { recursive: true, force: true });
  return content;
}
