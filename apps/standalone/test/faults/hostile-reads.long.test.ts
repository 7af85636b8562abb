import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lockTable } from '../../../../packages/service/test/store/lock-table.ts';
import { report, tally } from './report.ts';
import { holdingsOf, type ServiceProcess } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask, outcomeOf } from './stored-datasets.ts';

const AREA = 'Attacks';
const MIB = 1024 * 1024;
/** What the process may hold while it reads: bounded by a page, not by what is stored. */
const MAX_RSS_BYTES = 600 * MIB;

let own: OwnService;
let service: ServiceProcess;
beforeAll(async () => {
  own = await startService({}, 'standalone');
  service = own.service;
});
afterAll(() => own[Symbol.asyncDispose]());

/** A dataset of small items. */
async function upload(items: number): Promise<string> {
  const form = uploadForm(samplePackage(items, 20, Math.floor(Math.random() * 1e9)), 'hostile');
  const { status, body } = await ask(`${service.url}/datasets/upload`, { method: 'POST', body: form });
  expect(status).toBe(201);
  return body.id;
}

/** Writes text into items of a dataset behind the service's back, as an earlier version may have stored it. */
async function plant(id: string, part: 'payload' | 'assets', bytes: number, where = 'true'): Promise<void> {
  const [before, after] = part === 'payload' ? ['{"inputs":{"prompt":"', '"}}'] : ['{"a":"', '"}'];
  await own.query(
    `UPDATE items SET byte_length = byte_length + ${bytes} + 26, ${part} = ('${before}' || repeat('y', ${bytes}) || '${after}')::json
     FROM parts p WHERE p.id = items.part_id AND p.dataset_id = '${id}' AND ${where}`,
  );
  await own.query(`UPDATE sections SET file_bytes = NULL, file_sha256 = NULL WHERE dataset_id = '${id}'`);
}

/** The most that the process held while something was done. */
async function peakRssDuring(work: () => Promise<void>): Promise<number> {
  let peak = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      peak = Math.max(peak, (await holdingsOf(service.child.pid)).rssBytes);
      await delay(20);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await watching;
  }
  return peak;
}

it.skipIf(process.platform !== 'linux')(
  'an item of 560 MB that is stored already',
  { timeout: 600_000 },
  async (context) => {
    const id = await upload(5);
    const other = await upload(2);
    // less is no less too large, and sooner written
    await plant(id, 'assets', 560_000_000, 'items.ordinal = 2');
    const outcomes: string[] = [];
    const ended: unknown[] = [];
    const peak = await peakRssDuring(async () => {
      for (let round = 0; round < 5; round++) {
        const page = await ask(`${service.url}/datasets/${id}/items?limit=100`);
        outcomes.push(`page ${outcomeOf(page)}`);
        expect(page.body.data.map((entry: { item: object | null }) => entry.item !== null)).toEqual([
          true,
          true,
          false,
          true,
          true,
        ]);
        expect(page.body.data[2].error.code).toBe('item_too_large');
        const one = await ask(`${service.url}/datasets/${id}/items?limit=1`);
        outcomes.push(`page ${outcomeOf(one)}`);
        for (const path of ['items.jsonl', 'export']) {
          const answer = await ask(`${service.url}/datasets/${id}/${path}`);
          expect(answer.body?.detail).toContain('Item 2 of section "default"');
          outcomes.push(`${path} ${outcomeOf(answer)}`);
        }
        outcomes.push(`diff ${outcomeOf(await ask(`${service.url}/datasets/${id}/diff/${other}`))}`);
        outcomes.push(`search ${outcomeOf(await ask(`${service.url}/datasets/${id}/items?q=zzzz`))}`);
      }
      const run = await ask(`${service.url}/runs`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          dataset_id: id,
          config: { provider: { type: 'echo' }, allow_unscored: true },
        }),
      });
      expect(run.status).toBe(202);
      const current = async () => (await ask(`${service.url}/runs/${run.body.id}`)).body;
      await expect.poll(async () => (await current()).status, { timeout: 120_000 }).toBe('completed');
      expect((await current()).counts).toMatchObject({ total: 5, done: 5, failed: 1 });
      const failed = await ask(`${service.url}/runs/${run.body.id}/results?status=failed`);
      expect(failed.body.data).toMatchObject([{ order_index: 2, error: { code: 'item_too_large' } }]);
      outcomes.push('run completed');
      ended.push(service.hasEnded());
    });
    const deleted = await ask(`${service.url}/datasets/${id}`, { method: 'DELETE' });
    outcomes.push(`delete ${outcomeOf(deleted)}`);
    expect(ended).toEqual([false]);
    expect((await ask(`${service.url}/healthz`)).status).toBe(200);
    expect(peak).toBeLessThan(MAX_RSS_BYTES);
    expect(Object.keys(tally(outcomes)).sort()).toEqual([
      'delete 204',
      'diff 200',
      'export 409 item_too_large',
      'items.jsonl 409 item_too_large',
      'page 200',
      'run completed',
      'search 200',
    ]);
    report(context, {
      area: AREA,
      scenario: 'a stored item of 560 MB: listed, streamed, exported, compared, searched, run, deleted',
      expected:
        'the other items are listed, exports name the item, a run continues without it; under 600 MB of memory',
      runs: outcomes.length,
      observed: tally(outcomes),
    });
  },
);

it.skipIf(process.platform !== 'linux')(
  'pages of large items that compress well',
  { timeout: 600_000 },
  async (context) => {
    const count = 60;
    const id = await upload(count);
    await plant(id, 'payload', 27_000_000);
    const pages: string[] = [];
    let listed = 0;
    let streamedBytes = 0;
    const peak = await peakRssDuring(async () => {
      for (let cursor: string | null = ''; cursor !== null; ) {
        const answer = await ask(
          `${service.url}/datasets/${id}/items?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
        );
        pages.push(outcomeOf(answer));
        expect(answer.status).toBe(200);
        listed += answer.body.data.length;
        // an item may have more than a page, two may not
        if (answer.body.data.length > 1) expect(answer.text.length).toBeLessThan(17 * MIB);
        cursor = answer.body.meta.next_cursor;
      }
      const response = await fetch(`${service.url}/datasets/${id}/items.jsonl`);
      for await (const chunk of response.body ?? []) streamedBytes += chunk.byteLength;
    });
    expect(listed).toBe(count);
    expect(streamedBytes).toBeGreaterThan(count * 27_000_000);
    expect(peak).toBeLessThan(MAX_RSS_BYTES);
    await ask(`${service.url}/datasets/${id}`, { method: 'DELETE' });
    report(context, {
      area: AREA,
      scenario: `all pages of ${count} items of 27 MB that take 375 kB each in the database, and all lines`,
      expected: 'pages of 8 MiB or one item, under 600 MB of memory, and every item is listed',
      runs: pages.length,
      observed: tally(pages),
    });
  },
);

it('concurrent searches of one caller', { timeout: 600_000 }, async (context) => {
  const id = await upload(8);
  await plant(id, 'payload', 29_000_000);
  // a search that has a connection keeps it until all have been counted
  const counting = await lockTable(own.databaseUrl, 'items', 'ACCESS EXCLUSIVE');
  const leave = new AbortController();
  const search = () => ask(`${service.url}/datasets/${id}/items?q=zzzz`, { signal: leave.signal });
  const searches = Array.from({ length: 30 }, search);
  const lists: string[] = [];
  const listing = (async () => {
    for (let index = 0; index < 200; index++) {
      lists.push(outcomeOf(await ask(`${service.url}/datasets?limit=10`)));
      await delay(20);
    }
  })();
  const active = async (): Promise<number> => {
    const [row] = await own.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'active' AND query LIKE 'WITH matching AS MATERIALIZED%'`,
    );
    return row.n;
  };
  await expect.poll(active).toBeGreaterThan(0);
  const atOnce = await active();
  await counting[Symbol.asyncDispose]();
  await listing;
  const found = await Promise.all(searches);
  for (const { status, headers } of found) {
    if (status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  // a caller that leaves
  const staying = await lockTable(own.databaseUrl, 'items', 'ACCESS EXCLUSIVE');
  const leaving = Array.from({ length: 4 }, search);
  await expect.poll(active).toBeGreaterThan(0);
  leave.abort();
  await Promise.all(leaving);
  await expect.poll(active).toBe(0);
  await staying[Symbol.asyncDispose]();

  expect(atOnce).toBeLessThanOrEqual(5);
  expect(tally(lists)).toEqual({ 200: lists.length });
  for (const answer of found) expect(['200', '503 unavailable']).toContain(outcomeOf(answer));
  await ask(`${service.url}/datasets/${id}`, { method: 'DELETE' });
  report(context, {
    area: AREA,
    scenario:
      '30 concurrent searches through 8 large items, while others list datasets; then searches whose client disconnects',
    expected:
      'a quarter of the connections for searches, 503 with `Retry-After` for the rest, every list 200; cancelled in the database when the client disconnects',
    runs: found.length + lists.length,
    observed: { ...tally(found.map((answer) => `search ${outcomeOf(answer)}`)), 'list 200': lists.length },
  });
});
