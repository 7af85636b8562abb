import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { startFakeHub } from '../packages/hub-client/test/fake-hub.ts';
import { type Case, type Sample, timed } from './measure.ts';
import type { Service } from './service.ts';
import { shell } from './shell.ts';

export interface HubCaseOptions {
  readonly size: number;
  readonly label: string;
  readonly folder: string;
  readonly psql: Readonly<Record<string, string>>;
  readonly withService: <T>(
    use: (service: Service) => Promise<T>,
    env?: Readonly<Record<string, string>>,
  ) => Promise<T>;
  readonly sampleOf: (service: Service, work: () => Promise<unknown>) => Promise<Sample>;
}

/** Makes a Parquet file of questions, answers, an integer and a float column, as a hub's writer would. */
async function writeParquet(path: string, size: number): Promise<void> {
  const database = await DuckDBInstance.create();
  const connection = await database.connect();
  // Words picked by hash: text that compresses about as well as text does.
  const words = (count: number, salt: number): string =>
    `array_to_string(list_transform(range(${count}), lambda word: (['what','number','apples','remain','people','share','them','gives','away','noon','market','friend'])[1 + (hash(i * 1000 + word + ${salt}) % 12)::int]), ' ')`;
  await connection.run(
    `COPY (SELECT 'Question ' || i || ': ' || ${words(40, 1)} || '?' AS question, ${words(20, 2)} || chr(10) || '#### ' || i AS answer,
       i::BIGINT AS level, (i * 0.37)::DOUBLE AS score FROM range(${size}) AS t(i))
     TO '${path}' (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 50000)`,
  );
  connection.closeSync();
  database.closeSync();
}

/** Import of a Parquet dataset from a loopback hub, against DuckDB and psql doing the bare minimum. */
export async function hubCase(options: HubCaseOptions): Promise<Case> {
  const { size, label, folder, psql, withService, sampleOf } = options;
  const parquet = join(folder, `${size}.parquet`);
  await writeParquet(parquet, size);
  const csv = join(folder, `${size}.csv`);
  return {
    name: `hub import, ${label} rows of Parquet`,
    baseline: 'DuckDB to CSV, then psql \\copy to a table of those columns',
    target: 1.25,
    runOurs: async () => {
      const file = openSync(parquet, 'r');
      const { size: byteLength } = statSync(parquet);
      await using hub = await startFakeHub({
        id: 'bench/rows',
        files: {
          'data/train-00000-of-00001.parquet': {
            byteLength,
            read: (start, end) => {
              const bytes = Buffer.allocUnsafe(end - start);
              readSync(file, bytes, 0, end - start, start);
              return bytes;
            },
          },
        },
      });
      try {
        return await withService(
          (service) =>
            sampleOf(service, async () => {
              const response = await fetch(`${service.url}/datasets/hub/import`, {
                method: 'POST',
                headers: { 'Content-Type': 'application/json' },
                body: JSON.stringify({
                  name: 'bench',
                  config: { path: 'bench/rows', split: 'train' },
                  mapping: {
                    prompt_column: 'question',
                    answer_column: 'answer',
                    meta_columns: ['level', 'score'],
                  },
                }),
              });
              const text = await response.text();
              if (response.status !== 201) throw new Error(`import answered ${response.status}: ${text}`);
            }),
          { HUB_ENDPOINT: hub.endpoint },
        );
      } finally {
        closeSync(file);
      }
    },
    runBaseline: async () => {
      await shell(
        `psql -q "$PGURL" -c 'DROP TABLE IF EXISTS hub_floor' -c 'CREATE TABLE hub_floor (question text, answer text, level bigint, score float8)'`,
        psql,
      );
      return timed(async () => {
        const database = await DuckDBInstance.create();
        const connection = await database.connect();
        await connection.run(`COPY (SELECT * FROM '${parquet}') TO '${csv}' (FORMAT csv, HEADER false)`);
        connection.closeSync();
        database.closeSync();
        await shell(`psql -q "$PGURL" -c "\\copy hub_floor FROM '${csv}' WITH (FORMAT csv)"`, psql);
      });
    },
  };
}
