import { DuckDBInstance } from '@duckdb/node-api';
import type { Bench } from '../bench.ts';
import { type Case, timed } from '../measure.ts';
import { shell } from '../shell.ts';

/** A file of questions, answers, an integer and a float column. */
export interface WordTable {
  readonly rows: number;
  readonly format: 'csv' | 'parquet';
  /** What the float column grows by from row to row. */
  readonly scoreStep: number;
}

const OPTIONS = {
  csv: 'FORMAT csv, HEADER',
  parquet: 'FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 50000',
} as const;

/** Words picked by hash: text that compresses about as well as text does. */
const words = (count: number, salt: number): string =>
  `array_to_string(list_transform(range(${count}), lambda word: (['what','number','apples','remain','people','share','them','gives','away','noon','market','friend'])[1 + (hash(i * 1000 + word + ${salt}) % 12)::int]), ' ')`;

/** Writes such a file as another program would. */
export async function writeWordTable(path: string, { rows, format, scoreStep }: WordTable): Promise<void> {
  await runDuckDb(
    `COPY (SELECT 'Question ' || i || ': ' || ${words(40, 1)} || '?' AS question, ${words(20, 2)} || chr(10) || '#### ' || i AS answer,
       i::BIGINT AS level, (i * ${scoreStep})::DOUBLE AS score FROM range(${rows}) AS t(i)) TO '${path}' (${OPTIONS[format]})`,
  );
}

/** DuckDB writes such a file to `csv`, which psql copies to a table. */
export function copyBaseline(
  bench: Bench,
  path: string,
  csv: string,
): Pick<Case, 'baseline' | 'runBaseline'> {
  return {
    baseline: 'DuckDB to CSV, then psql \\copy to a table of those columns',
    runBaseline: async () => {
      await shell(
        `psql -q "$PGURL" -c 'DROP TABLE IF EXISTS table_floor' -c 'CREATE TABLE table_floor (question text, answer text, level bigint, score float8)'`,
        bench.psql,
      );
      await bench.empty();
      return timed(async () => {
        await runDuckDb(`COPY (SELECT * FROM '${path}') TO '${csv}' (FORMAT csv, HEADER false)`);
        await shell(`psql -q "$PGURL" -c "\\copy table_floor FROM '${csv}' WITH (FORMAT csv)"`, bench.psql);
      });
    },
  };
}

async function runDuckDb(sql: string): Promise<void> {
  const database = await DuckDBInstance.create();
  const connection = await database.connect();
  await connection.run(sql);
  connection.closeSync();
  database.closeSync();
}
