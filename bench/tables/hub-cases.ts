import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { type FakeHub, startFakeHub } from '../../packages/hub-client/test/fake-hub.ts';
import { type Bench, sampleOf, WARM_UPS } from '../bench.ts';
import { type Case, timed } from '../measure.ts';
import { type Service, uploadByCurl } from '../service.ts';
import { shell } from '../shell.ts';

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

/** Lets a loopback hub serve a file as the dataset `bench/rows`. */
async function withHub<T>(parquet: string, use: (hub: FakeHub) => Promise<T>): Promise<T> {
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
    return await use(hub);
  } finally {
    closeSync(file);
  }
}

async function post<T>(service: Service, path: string, body: unknown): Promise<T> {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

const MAPPING = { prompt_column: 'question', answer_column: 'answer', meta_columns: ['level', 'score'] };

const importRows = (service: Service, split: string): Promise<{ id: string }> =>
  post(service, '/datasets/hub/import', {
    name: 'bench',
    config: { path: 'bench/rows', split },
    mapping: MAPPING,
  });

const FORM = { fileName: 'rows.parquet', fields: { mapping: JSON.stringify(MAPPING) } };

/** Import of a Parquet dataset from a loopback hub, and upload of the same file, against DuckDB and psql doing the bare minimum. */
export async function hubCases(bench: Bench, size: number): Promise<readonly Case[]> {
  const { folder } = bench;
  const parquet = join(folder, `${size}.parquet`);
  const small = join(folder, 'small.parquet');
  await writeParquet(parquet, size);
  await writeParquet(small, SMALL_ROWS);
  const baseline = baselineOf(bench, parquet, join(folder, `${size}.csv`));
  const upload: Case = {
    ...baseline,
    name: `upload of the same Parquet file, ${size.toLocaleString('en')} rows`,
    runOurs: () =>
      bench.withService(async (service) => {
        for (let time = 0; time < WARM_UPS; time += 1) await uploadByCurl(service, small, FORM);
        await bench.empty();
        return await sampleOf(service, () => uploadByCurl(service, parquet, FORM));
      }),
  };
  const hubImport: Case = {
    ...baseline,
    name: `hub import, ${size.toLocaleString('en')} rows of Parquet`,
    runOurs: () =>
      withHub(parquet, (hub) =>
        bench.withService(
          async (service) => {
            for (let time = 0; time < WARM_UPS; time += 1) await importRows(service, 'train[:10000]');
            await bench.empty();
            return await sampleOf(service, () => importRows(service, 'train'));
          },
          { HUB_ENDPOINT: hub.endpoint },
        ),
      ),
  };
  return [hubImport, upload];
}

/** Rows of a file with which a service is warmed up. */
const SMALL_ROWS = 10_000;

function baselineOf(
  bench: Bench,
  parquet: string,
  csv: string,
): Pick<Case, 'baseline' | 'target' | 'runBaseline'> {
  const { psql } = bench;
  return {
    baseline: 'DuckDB to CSV, then psql \\copy to a table of those columns',
    target: 1,
    runBaseline: async () => {
      await shell(
        `psql -q "$PGURL" -c 'DROP TABLE IF EXISTS hub_floor' -c 'CREATE TABLE hub_floor (question text, answer text, level bigint, score float8)'`,
        psql,
      );
      await bench.empty();
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

/** What a first look at a dataset of so many rows takes of the hub. */
export async function previewCost(
  bench: Bench,
  size: number,
): Promise<{ readonly requests: number; readonly bytes: number; readonly milliseconds: number }> {
  const parquet = join(bench.folder, `${size}.parquet`);
  await writeParquet(parquet, size);
  return await withHub(parquet, (hub) =>
    bench.withService(
      async (service) => {
        const { seconds } = await timed(() =>
          post(service, '/datasets/hub/preview', { path: 'bench/rows', split: 'train' }),
        );
        return {
          requests: hub.requests.length,
          bytes: hub.totalBytes(),
          milliseconds: Math.round(seconds * 1000),
        };
      },
      { HUB_ENDPOINT: hub.endpoint },
    ),
  );
}
