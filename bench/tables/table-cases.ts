import { createReadStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, sampleOf, WARM_UPS } from '../bench.ts';
import type { Case } from '../measure.ts';
import { type Service, uploadByCurl } from '../service.ts';
import { copyBaseline, type WordTable, writeWordTable } from './word-table.ts';

/** Bytes of a row as CSV. */
const ROW_BYTES = 380;
const SCORE_STEP = 0.25;
const MAPPING = JSON.stringify({
  prompt_column: 'question',
  answer_column: 'answer',
  meta_columns: ['level', 'score'],
});

/** How such a file is sent. */
const TABLE_FORM = { fileName: 'table', fields: { mapping: MAPPING } };

/** A file with a table, and its format. */
export interface TableFile {
  readonly path: string;
  readonly format: WordTable['format'];
  readonly bytes: number;
}

/** Writes questions, answers, an integer and a float column as a CSV and as a Parquet file, each of about this size in bytes. */
export async function makeTables(
  { folder }: Bench,
  bytes: number,
  formats: readonly WordTable['format'][] = ['csv', 'parquet'],
): Promise<TableFile[]> {
  const files: TableFile[] = [];
  for (const format of formats) {
    const path = join(folder, `table-${bytes}.${format}`);
    // Snappy makes the words about a third of their size.
    const rows = Math.ceil(bytes / ROW_BYTES) * (format === 'parquet' ? 3 : 1);
    await writeWordTable(path, { rows, format, scoreStep: SCORE_STEP });
    files.push({ path, format, bytes: statSync(path).size });
  }
  return files;
}

/** From the request to its 201, against DuckDB reading the file and psql loading its columns. */
export async function tableCase(bench: Bench, file: TableFile): Promise<Case> {
  const { folder } = bench;
  const small = join(folder, 'small.csv');
  await writeWordTable(small, { rows: 10_000, format: 'csv', scoreStep: SCORE_STEP });
  return {
    name: `upload of a ${file.format} file, ${label(file.bytes)}`,
    ...copyBaseline(bench, file.path, join(folder, 'copied.csv')),
    target: 1.25,
    runOurs: () =>
      bench.withService(async (service) => {
        for (let time = 0; time < WARM_UPS; time += 1) await uploadByCurl(service, small, TABLE_FORM);
        await bench.empty();
        return await sampleOf(service, () => uploadByCurl(service, file.path, TABLE_FORM));
      }),
  };
}

const label = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

/** Milliseconds from the last byte of a file to the preview of its first rows, in a service that is warmed up, three times. */
export async function tablePreviews(bench: Bench, { path, format }: TableFile): Promise<number[]> {
  const small = join(bench.folder, `small-preview.${format}`);
  await writeWordTable(small, { rows: 10_000, format, scoreStep: SCORE_STEP });
  return await bench.withService(async (service) => {
    for (let time = 0; time < WARM_UPS; time += 1) await previewMs(service, small);
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await bench.settle();
      times.push(await previewMs(service, path));
    }
    return times;
  });
}

async function previewMs(service: Service, path: string): Promise<number> {
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
}
