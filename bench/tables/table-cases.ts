import { createReadStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { type Bench, sampleOf, WARM_UPS } from '../bench.ts';
import { type Case, timed } from '../measure.ts';
import { uploadByCurl } from '../service.ts';
import { shell } from '../shell.ts';

/** Bytes of a row as CSV. */
const ROW_BYTES = 380;
const MAPPING = JSON.stringify({
  prompt_column: 'question',
  answer_column: 'answer',
  meta_columns: ['level', 'score'],
});

const FORM = { fileName: 'table', fields: { mapping: MAPPING } };

/** A file with a table, and its format. */
export interface TableFile {
  readonly path: string;
  readonly format: 'csv' | 'parquet';
  readonly bytes: number;
}

/** Writes questions, answers, an integer and a float column as a CSV and as a Parquet file, each of about so many bytes. */
export async function makeTables({ folder }: Bench, bytes: number): Promise<TableFile[]> {
  const files: TableFile[] = [];
  for (const format of ['csv', 'parquet'] as const) {
    const path = join(folder, `table-${bytes}.${format}`);
    // Snappy makes the words about a third of their size.
    const rows = Math.ceil(bytes / ROW_BYTES) * (format === 'parquet' ? 3 : 1);
    await writeTable(path, rows, format);
    files.push({ path, format, bytes: statSync(path).size });
  }
  return files;
}

async function writeTable(path: string, rows: number, format: TableFile['format']): Promise<void> {
  const database = await DuckDBInstance.create();
  const connection = await database.connect();
  const words = (count: number, salt: number): string =>
    `array_to_string(list_transform(range(${count}), lambda word: (['what','number','apples','remain','people','share','them','gives','away','noon','market','friend'])[1 + (hash(i * 1000 + word + ${salt}) % 12)::int]), ' ')`;
  const options =
    format === 'csv' ? 'FORMAT csv, HEADER' : 'FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 50000';
  await connection.run(
    `COPY (SELECT 'Question ' || i || ': ' || ${words(40, 1)} || '?' AS question, ${words(20, 2)} || chr(10) || '#### ' || i AS answer,
       i::BIGINT AS level, (i * 0.25)::DOUBLE AS score FROM range(${rows}) AS t(i)) TO '${path}' (${options})`,
  );
  connection.closeSync();
  database.closeSync();
}

/** From the request to its 201, against DuckDB reading the file and psql loading its columns. */
export async function tableCase(bench: Bench, file: TableFile): Promise<Case> {
  const { folder, psql } = bench;
  const small = join(folder, 'small.csv');
  await writeTable(small, 10_000, 'csv');
  const copied = join(folder, 'copied.csv');
  return {
    name: `upload of a ${file.format} file, ${label(file.bytes)}`,
    baseline: 'DuckDB to CSV, then psql \\copy to a table of those columns',
    target: 1.25,
    runOurs: () =>
      bench.withService(async (service) => {
        for (let time = 0; time < WARM_UPS; time += 1) await uploadByCurl(service, small, FORM);
        await bench.empty();
        return await sampleOf(service, () => uploadByCurl(service, file.path, FORM));
      }),
    runBaseline: async () => {
      await shell(
        `psql -q "$PGURL" -c 'DROP TABLE IF EXISTS table_floor' -c 'CREATE TABLE table_floor (question text, answer text, level bigint, score float8)'`,
        psql,
      );
      await bench.empty();
      return timed(async () => {
        const database = await DuckDBInstance.create();
        const connection = await database.connect();
        await connection.run(`COPY (SELECT * FROM '${file.path}') TO '${copied}' (FORMAT csv, HEADER false)`);
        connection.closeSync();
        database.closeSync();
        await shell(`psql -q "$PGURL" -c "\\copy table_floor FROM '${copied}' WITH (FORMAT csv)"`, psql);
      });
    },
  };
}

const label = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

/** Milliseconds from the last byte of a file to the preview of its first rows. */
export async function tablePreview(bench: Bench, { path }: TableFile): Promise<number> {
  return await bench.withService(async (service) => {
    let sentAt = 0;
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(
        '--b0undary\r\nContent-Disposition: form-data; name="file"; filename="table"\r\nContent-Type: application/octet-stream\r\n\r\n',
      );
      yield* createReadStream(path, { highWaterMark: 1024 * 1024 });
      yield Buffer.from('\r\n--b0undary--\r\n');
      sentAt = performance.now();
    }
    const response = await fetch(`${service.url}/datasets/upload/preview`, {
      method: 'POST',
      body: ReadableStream.from(body()),
      duplex: 'half',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b0undary' },
    } as RequestInit);
    if (response.status !== 200) throw new Error(`The preview failed: ${await response.text()}`);
    await response.arrayBuffer();
    return Math.round(performance.now() - sentAt);
  });
}
