import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeHub, startFakeHub } from '../../packages/hub-client/test/fake-hub.ts';
import { type Bench, sampleOf, WARM_UPS } from '../bench.ts';
import { type Case, timed } from '../measure.ts';
import { type Service, uploadByCurl } from '../service.ts';
import { copyBaseline, type WordTable, writeWordTable } from './word-table.ts';

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
  await writeWordTable(parquet, hubTable(size));
  await writeWordTable(small, hubTable(SMALL_ROWS));
  const baseline = { ...copyBaseline(bench, parquet, join(folder, `${size}.csv`)), target: 1 };
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

const hubTable = (rows: number): WordTable => ({ rows, format: 'parquet', scoreStep: 0.37 });

/** What a preview of a dataset of this many rows requests from the hub. */
export async function previewCost(
  bench: Bench,
  size: number,
): Promise<{ readonly requests: number; readonly bytes: number; readonly milliseconds: number }> {
  const parquet = join(bench.folder, `${size}.parquet`);
  await writeWordTable(parquet, hubTable(size));
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
