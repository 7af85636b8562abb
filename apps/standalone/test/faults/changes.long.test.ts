import { setTimeout as delay } from 'node:timers/promises';
import { createStore } from '@svc/service/store';
import { describe, expect, it } from 'vitest';
import { rangesOf } from '../../../../packages/service/src/store/items/item-ranges.ts';
import { report, tally } from './report.ts';
import type { ServiceProcess } from './run-service.ts';
import { ask, outcomeOf, type ServiceResponse, uploadLines, verifyDataset } from './stored-datasets.ts';
import { useDatabase } from './use-database.ts';

const AREA = 'Changes of datasets';
const file = useDatabase();

/** Canonical lines of items. */
const lines = (from: number, count: number, prompt: string): string[] =>
  Array.from({ length: count }, (_, n) => `{"id":${from + n},"inputs":{"prompt":"${prompt} ${from + n}"}}`);

const json = (method: string, body: object): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const jsonl = (text: readonly string[]): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/jsonl' },
  body: `${text.join('\n')}\n`,
});

/** Items to which no section refers, and of which no note says so. */
const STRAY_ITEMS = `SELECT count(*)::int AS items FROM items i
  WHERE NOT EXISTS (SELECT FROM loose_parts l WHERE l.part_id = i.part_id)
    AND NOT EXISTS (SELECT FROM sections s CROSS JOIN LATERAL ${rangesOf()} AS range
      WHERE range.part_id = i.part_id AND i.ordinal >= range.first AND i.ordinal < range.first + range.stop - range.start)`;

/** The newest version, after every version was read and its hash computed again. */
async function verifyVersions(service: ServiceProcess, id: string): Promise<number> {
  const { body: history } = await ask(`${service.url}/datasets/${id}/versions?limit=100`);
  const problems: string[] = [];
  for (const { version, version_hash } of history.data) {
    const { body } = await ask(`${service.url}/datasets/${id}?version=${version}`);
    expect(body.version_hash).toBe(version_hash);
    problems.push(...(await verifyDataset(service.url, body)));
  }
  expect(problems).toEqual([]);
  expect(await file.database.query(STRAY_ITEMS)).toEqual([{ items: 0 }]);
  return history.data[0].version;
}

describe('SIGKILL', () => {
  it('at any moment of a change leaves the next version or none', async (context) => {
    const rounds = 60;
    const found: string[] = [];
    let service = await file.start();
    const id = await uploadLines(service.url, lines(0, 3_000, 'first'));
    const path = (): string => `${service.url}/datasets/${id}`;
    let newest = 1;
    for (let round = 0; round < rounds; round++) {
      const name = `round ${round}`;
      const { body: page } = await ask(`${path()}/items?limit=50`);
      const edits = page.data.map((entry: { item_hash: string }, n: number) =>
        n % 2 === 0
          ? { item_hash: entry.item_hash, remove: true }
          : { item_hash: entry.item_hash, item: { inputs: { prompt: `${name} edited ${n}` } } },
      );
      const changes: Record<string, () => Promise<ServiceResponse>> = {
        append: () => ask(`${path()}/items?mode=append`, jsonl(lines(10_000 * round, 4_000, name))),
        upsert: () => ask(`${path()}/items?mode=upsert`, jsonl(lines(0, 4_000, name))),
        replace: () => ask(`${path()}/items?mode=replace`, jsonl(lines(0, 3_000, name))),
        edit: () => ask(`${path()}/items`, json('PATCH', { edits })),
        restore: () => ask(`${path()}/restore`, json('POST', { version: newest === 1 ? 1 : newest - 1 })),
        'delete a version': () => ask(`${path()}/versions/${newest - 1}`, { method: 'DELETE' }),
      };
      const kinds = Object.keys(changes);
      const kind = kinds[round % kinds.length] as string;
      const answer = changes[kind]?.();
      await delay((round * 53) % 240);
      await service.end('SIGKILL');
      const outcome = outcomeOf((await answer) as ServiceResponse);
      found.push(`${kind}: ${outcome === 'no answer' ? outcome : 'answered before'}`);

      service = await file.start();
      const stored = await verifyVersions(service, id);
      expect([newest, newest + 1]).toContain(stored);
      if (outcome === '201') expect(stored).toBe(newest + 1);
      newest = stored;
    }
    report(context, {
      area: AREA,
      scenario:
        'SIGKILL during an append, an upsert, a replacement, edits, a restoration or the deletion of a version',
      expected: 'the next version is whole or absent, all versions have their hashes, no item is left over',
      runs: rounds,
      observed: tally(found),
    });
  }, 400_000);

  it('during a job that changes a dataset lets the next process end it, once', async (context) => {
    const rounds = 6;
    const added = 30_000;
    const found: string[] = [];
    let service = await file.start({ app: 'standalone' });
    for (let round = 0; round < rounds; round++) {
      const id = await uploadLines(service.url, lines(0, 100, `job ${round}`));
      const form = new FormData();
      form.set('file', new Blob([`${lines(1_000, added, `job ${round}`).join('\n')}\n`]), 'more.jsonl');
      const { status, body: job } = await ask(
        `${service.url}/datasets/${id}/items?mode=append&section=default`,
        {
          method: 'POST',
          headers: { Prefer: 'respond-async' },
          body: form,
        },
      );
      expect(status).toBe(202);
      await delay((round * 97) % 400);
      await service.end('SIGKILL');

      service = await file.start({ app: 'standalone' });
      await expect
        .poll(async () => (await ask(`${service.url}/jobs/${job.id}`)).body.status, { timeout: 120_000 })
        .toBe('succeeded');
      expect(await verifyVersions(service, id)).toBe(2);
      expect((await ask(`${service.url}/datasets/${id}`)).body.item_count).toBe(100 + added);
      found.push('one new version');
    }
    report(context, {
      area: AREA,
      scenario: `SIGKILL during a job that appends ${added.toLocaleString('en')} items, then a new start`,
      expected: 'the job succeeds, with one new version',
      runs: rounds,
      observed: tally(found),
    });
  }, 600_000);
});

it('readers that began on a version finish on it while it is changed and deleted', async (context) => {
  const service = await file.start();
  const items = 60_000;
  const id = await uploadLines(
    service.url,
    lines(0, items, 'a prompt of some length that fills the buffers of a connection'),
  );
  const url = `${service.url}/datasets/${id}`;
  const whole = await (await fetch(`${url}/items.jsonl`)).text();
  const exported = Buffer.from(await (await fetch(`${url}/export`)).arrayBuffer());
  const readers = [
    { name: 'stream', response: await fetch(`${url}/items.jsonl`) },
    { name: 'export', response: await fetch(`${url}/export`) },
  ];
  for (const mode of ['append', 'upsert', 'replace']) {
    expect((await ask(`${url}/items?mode=${mode}`, jsonl(lines(90_000, 50, mode)))).status).toBe(201);
  }
  for (const version of [1, 2, 3]) {
    expect((await ask(`${url}/versions/${version}`, { method: 'DELETE' })).status).toBe(204);
  }
  await using store = createStore({ url: file.database.url });
  expect(await store.datasets.collect()).toBe(items + 100);
  const [stream, archive] = readers.map(({ response }) => response.arrayBuffer());
  expect(Buffer.from((await stream) as ArrayBuffer).toString() === whole).toBe(true);
  expect(Buffer.from((await archive) as ArrayBuffer).equals(exported)).toBe(true);
  expect((await ask(`${url}?version=1`)).code).toBe('version_not_found');
  report(context, {
    area: AREA,
    scenario: 'a stream and an export of a version that is changed and deleted meanwhile',
    expected: 'both end as they began',
    runs: 2,
    observed: { 'the whole version': 2 },
  });
}, 240_000);
