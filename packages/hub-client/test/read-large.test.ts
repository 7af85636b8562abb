import type { JsonObject } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { stretchParquet } from '../../tabular/test/stretch-parquet.ts';
import { writeParquet } from '../../tabular/test/write-parquet.ts';
import { createHubClient, type SplitReader } from '../src/index.ts';
import { type FakeHub, startFakeHub } from './fake-hub.ts';

const MEGABYTE = 1024 * 1024;
const words = (n: number): string =>
  Array.from({ length: 40 }, (_, i) => ((n * 7919 + i * 104729) % 99991).toString(36)).join(' ');

function oneGroup(): Uint8Array {
  const numbers = Array.from({ length: 20_000 }, (_, index) => index);
  return writeParquet({
    columns: [
      { name: 'id', data: numbers.map(BigInt), type: 'INT64', encoding: 'PLAIN' },
      { name: 'question', data: numbers.map((n) => `Q${n} ${words(n)}`), type: 'STRING' },
      { name: 'answer', data: numbers.map((n) => `A${n} ${words(n + 1)}`), type: 'STRING' },
      { name: 'subject', data: numbers.map((n) => ['math', 'physics', 'law'][n % 3]), type: 'STRING' },
    ],
    features: {
      id: { dtype: 'int64', _type: 'Value' },
      question: { dtype: 'string', _type: 'Value' },
      answer: { dtype: 'string', _type: 'Value' },
      subject: { dtype: 'string', _type: 'Value' },
    },
    rowGroupSize: numbers.length,
  });
}

const source = oneGroup();
const CARD = '---\nconfigs:\n- {config_name: default, data_files: data/*.parquet}\n---\n';

async function preview(
  hub: FakeHub,
  split: string | undefined,
  limit: number,
  columns?: string[],
): Promise<{ selection: SplitReader; rows: JsonObject[] }> {
  await using client = createHubClient({ endpoint: hub.endpoint });
  const dataset = await client.openDataset({ path: 'o/large' });
  const selection = await dataset.select({ split });
  const rows: JsonObject[] = [];
  for await (const { row } of selection.rows({ limit, columns })) rows.push(row);
  return { selection, rows };
}

describe.each([
  ['with a page index', true],
  ['without a page index', false],
])('a Parquet file of 2 GB %s', (_name, pageIndex) => {
  const file = stretchParquet(source, { groups: 20, chunkBytes: 25 * MEGABYTE, pageIndex });
  const repository = {
    id: 'o/large',
    files: { 'README.md': CARD, 'data/train-00000-of-00001.parquet': file },
    // The hub hands out the card's metadata with its first answer.
    info: { cardData: { configs: [{ config_name: 'default', data_files: 'data/*.parquet' }] } },
  };

  it('is previewed by 8 requests and 5 MB at most', async () => {
    await using hub = await startFakeHub(repository);
    expect(file.byteLength).toBeGreaterThan(2000 * MEGABYTE);
    const { selection, rows } = await preview(hub, undefined, 10);
    expect(selection.numRows).toBe(file.rowCount);
    expect(rows).toHaveLength(10);
    expect(rows[9]).toMatchObject({ id: 9, subject: 'math' });
    expect(rows[9]?.['question']).toMatch(/^Q9 /);
    expect(hub.requests.length).toBeLessThanOrEqual(8);
    expect(hub.totalBytes()).toBeLessThan(5 * MEGABYTE);
  });

  it('a thousand rows of two columns need little more', async () => {
    await using hub = await startFakeHub(repository);
    const { rows } = await preview(hub, 'train[:1000]', 5000, ['question', 'subject']);
    expect(rows).toHaveLength(1000);
    expect(rows[999]).toEqual({ question: expect.stringMatching(/^Q999 /), subject: 'math' });
    expect(hub.totalBytes()).toBeLessThan(5 * MEGABYTE);
  });

  it('rows of a later group do not need those before it', async () => {
    await using hub = await startFakeHub(repository);
    const first = (file.rowCount / 20) * 7;
    const { rows } = await preview(hub, `train[${first + 3}:${first + 5}]`, 10, ['id', 'answer']);
    expect(rows.map((row) => row['id'])).toEqual([3, 4]);
    expect(hub.totalBytes()).toBeLessThan(5 * MEGABYTE);
  });
});

it('eight shards whose rows the card tells are previewed by one of them', async () => {
  const file = stretchParquet(source, { groups: 4, chunkBytes: 16 * MEGABYTE, pageIndex: true });
  const name = (index: number): string => `data/train-0000${index}-of-00008.parquet`;
  const cardData = {
    dataset_info: {
      features: ['id', 'question', 'answer', 'subject'].map((column) => ({
        name: column,
        dtype: column === 'id' ? 'int64' : 'string',
      })),
      splits: [{ name: 'train', num_bytes: 1, num_examples: 8 * file.rowCount }],
    },
  };
  await using hub = await startFakeHub({
    id: 'o/large',
    files: {
      'README.md': '---\n# as below\n---\n',
      ...Object.fromEntries(Array.from({ length: 8 }, (_, index) => [name(index), file])),
    },
    info: { cardData },
  });
  const { selection, rows } = await preview(hub, undefined, 10);
  expect(rows).toHaveLength(10);
  expect(selection.numRows).toBe(8 * file.rowCount);
  expect(hub.requests.length).toBeLessThanOrEqual(8);
  expect(hub.totalBytes()).toBeLessThan(5 * MEGABYTE);

  hub.forget();
  const prefix = await preview(hub, 'train[:1000]', 1000, ['id']);
  expect(prefix.selection.numRows).toBe(1000);
  expect(prefix.rows).toHaveLength(1000);
  expect(hub.requests.length).toBeLessThanOrEqual(8);
});

it('a JSON Lines file of 2 GB is previewed by its beginning', async () => {
  const line = `${JSON.stringify({ question: 'q'.repeat(180), n: 1 })}\n`;
  const block = new TextEncoder().encode(line.repeat(5000));
  const byteLength = block.length * 2200;
  await using hub = await startFakeHub({
    id: 'o/large',
    files: {
      'train.jsonl': {
        byteLength,
        read: (start, end) =>
          Uint8Array.from({ length: end - start }, (_, i) => block[(start + i) % block.length]!),
      },
    },
  });
  expect(byteLength).toBeGreaterThan(2000 * MEGABYTE);
  const { selection, rows } = await preview(hub, undefined, 10);
  expect(rows).toHaveLength(10);
  expect(selection.numRows).toBeNull();
  expect(hub.requests.length).toBeLessThanOrEqual(8);
  // What the sockets on the way have taken in counts as sent.
  expect(hub.totalBytes()).toBeLessThan(12 * MEGABYTE);
});
