import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { IS_LONG, times } from '../../../../tools/vitest/long.ts';
import { report, tally } from './report.ts';
import { metricOf, type ServiceProcess } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import {
  ask,
  LEFTOVERS,
  listDatasets,
  NO_LEFTOVERS,
  outcomeOf,
  type ServiceResponse,
  verifyDataset,
} from './stored-datasets.ts';
import { useDatabase } from './use-database.ts';

const AREA = 'The database';
const file = useDatabase();
let service: ServiceProcess;
let sample: string;
beforeAll(async () => {
  service = await file.start({ env: { SVC_DATABASE_POOL_SIZE: '8', SVC_IMPORT_WAIT_MS: '2000' } });
  const { body } = await upload('before', samplePackage(3000, 3000));
  sample = body.id;
});
beforeEach(async () => {
  file.database.line.line = 'passes';
  await expect.poll(async () => (await ask(`${service.url}/readyz`)).status).toBe(200);
});

const upload = (name: string, archive: Uint8Array<ArrayBuffer>): Promise<ServiceResponse> =>
  ask(`${service.url}/datasets/upload`, { method: 'POST', body: uploadForm(archive, name) });

/** Requests of every kind that needs the database. */
const REQUESTS: readonly (readonly [string, RequestInit])[] = [
  ['/datasets', {}],
  ['/datasets?q=x', {}],
  ['/datasets/:id', {}],
  ['/datasets/:id/sections', {}],
  ['/datasets/:id/items?limit=5', {}],
  ['/datasets/:id/items?q=zz', {}],
  ['/datasets/:id/items.jsonl', {}],
  ['/datasets/:id/export', {}],
  ['/datasets/:id/diff/:id', {}],
  [
    '/datasets/:id',
    { method: 'PATCH', body: '{"notes":"x"}', headers: { 'Content-Type': 'application/json' } },
  ],
  ['/runs', {}],
  ['/settings', {}],
];
const send = (path: string, init: RequestInit): Promise<ServiceResponse> =>
  ask(service.url + path.replaceAll(':id', sample), init);
const names = async (): Promise<string[]> => (await listDatasets(service.url)).map(({ name }) => name);

describe('an unavailable database', () => {
  it('makes every request 503 with Retry-After, and nothing else stops', async (context) => {
    const { target } = file.database.line;
    file.database.line.target = null;
    file.database.line.cut();
    const responses: ServiceResponse[] = [];
    for (let round = 0; round < times(20, 3); round++) {
      responses.push(...(await Promise.all(REQUESTS.map(([path, init]) => send(path, init)))));
      responses.push(await upload('away', samplePackage(3)));
    }
    expect(tally(responses.map(outcomeOf))).toEqual({ '503 unavailable': responses.length });
    for (const { headers } of responses) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask(`${service.url}/healthz`)).status).toBe(200);
    expect((await ask(`${service.url}/metrics`)).status).toBe(200);
    const ready = async (): Promise<unknown[]> => {
      const { status, body } = await ask(`${service.url}/readyz`);
      return [status, body.checks.database.reason];
    };
    // a good answer lasts for a second
    await expect.poll(ready, { timeout: 5_000 }).toEqual([503, 'unreachable']);

    file.database.line.target = target;
    await expect.poll(async () => (await send('/datasets', {})).status).toBe(200);
    for (const [path, init] of REQUESTS) expect([path, (await send(path, init)).status]).toEqual([path, 200]);
    expect(await names()).toEqual(['before']);
    report(context, {
      area: AREA,
      scenario: 'unavailable: connections are refused; requests of every kind',
      expected:
        '503 `unavailable` with `Retry-After`; `/healthz` and `/metrics` still respond; the service recovers',
      runs: responses.length,
      observed: tally(responses.map(outcomeOf)),
    });
  });

  it.runIf(IS_LONG)(
    'does not let its connections be missed: after a restart requests just work',
    async (context) => {
      const restarts = times(10, 1);
      const responses: ServiceResponse[] = [];
      for (let round = 0; round < restarts; round++) {
        await Promise.all(REQUESTS.map(([path, init]) => send(path, init)));
        await file.database.restart();
        for (const [path, init] of REQUESTS) responses.push(await send(path, init));
      }
      expect(tally(responses.map(outcomeOf))).toEqual({ 200: responses.length });
      report(context, {
        area: AREA,
        scenario: 'restarted while idle, then requests of every kind',
        expected: 'normal responses',
        runs: responses.length,
        observed: tally(responses.map(outcomeOf)),
      });
    },
  );
});

describe('a database whose line breaks', () => {
  it('in the middle of imports: 503, nothing is stored, everything is freed', async (context) => {
    const archive = samplePackage(2000, 5000, 7);
    const responses: ServiceResponse[] = [];
    const stored: string[] = [];
    for (let round = 0; round < times(40, 4); round++) {
      const name = `cut ${round}`;
      const begun = service.lines.length;
      let isAnswered = false;
      const answer = upload(name, archive).finally(() => {
        isAnswered = true;
      });
      // The break before may end a request before its import begins.
      const hasBegun = (): boolean =>
        isAnswered || service.lines.slice(begun).some((line) => line.includes('"dataset.import.start"'));
      // A busy machine may notice the begin of an import after its end: every other time, the line breaks all the while.
      if (round % 2 === 0) await expect.poll(hasBegun, { interval: 5 }).toBe(true);
      await delay((round * 37) % 260);
      do {
        file.database.line.cut();
        await delay(10);
      } while (round % 2 === 1 && !isAnswered);
      const ended = await answer;
      responses.push(ended);
      if (ended.status === 201) stored.push(name);
    }
    expect(Object.keys(tally(responses.map(outcomeOf))).sort()).toEqual(
      expect.arrayContaining(['503 unavailable']),
    );
    for (const { status } of responses) expect([201, 503]).toContain(status);
    await expect.poll(() => service.stagedFiles()).toEqual([]);
    expect((await names()).filter((name) => name.startsWith('cut')).sort()).toEqual(stored.sort());
    expect(await file.database.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);
    report(context, {
      area: AREA,
      scenario: 'connection lost during an import',
      expected: '503 `unavailable` and nothing stored, or 201 and everything; file and connection released',
      runs: responses.length,
      observed: tally(responses.map(outcomeOf)),
    });
  });

  it.runIf(IS_LONG)(
    'in the middle of an export: the client sees that it is not complete',
    async (context) => {
      const whole = (await (await fetch(`${service.url}/datasets/${sample}/export`)).arrayBuffer())
        .byteLength;
      const found: string[] = [];
      for (let round = 0; round < times(30, 3); round++) {
        const response = await fetch(`${service.url}/datasets/${sample}/export`);
        const reader = (response.body as ReadableStream<Uint8Array>).getReader();
        let bytes = (await reader.read()).value?.byteLength ?? 0;
        await delay(30);
        file.database.line.cut();
        try {
          for (;;) {
            const { done, value } = await reader.read();
            if (done) break;
            bytes += value.byteLength;
          }
          expect(bytes).toBe(whole);
          found.push('complete');
        } catch {
          found.push('aborted visibly for the client');
        }
      }
      expect(found).toContain('aborted visibly for the client');
      report(context, {
        area: AREA,
        scenario: 'connection lost during an export',
        expected: 'the response ends with a transport error: a partial archive never looks complete',
        runs: found.length,
        observed: tally(found),
      });
    },
  );
});

describe('a database that does not answer', () => {
  it.runIf(IS_LONG)(
    'bounds every wait, and serves probes and metrics immediately',
    async (context) => {
      for (const [path, init] of REQUESTS) await send(path, init);
      file.database.line.line = 'stalls';
      // with so small a pool, one client may read one stream at a time
      const atOnce = REQUESTS.filter(([path]) => !path.endsWith('/export'));
      const waiting = Promise.all(atOnce.map(([path, init]) => send(path, init)));
      const probes = await Promise.all(['/healthz', '/metrics'].map((path) => ask(service.url + path)));
      expect(probes.map(({ status }) => status)).toEqual([200, 200]);
      // a good answer counts for a second
      await expect.poll(async () => (await ask(`${service.url}/readyz`)).status).toBe(503);
      // The short run lets the line pass again before the silence is found.
      if (!IS_LONG) file.database.line.line = 'passes';
      const responses = await waiting;
      for (const { status } of responses) expect([200, 503]).toContain(status);
      if (IS_LONG) expect(tally(responses.map(outcomeOf))).toEqual({ '503 unavailable': atOnce.length });
      file.database.line.line = 'passes';
      for (const [path, init] of REQUESTS)
        expect([path, (await send(path, init)).status]).toEqual([path, 200]);
      report(context, {
        area: AREA,
        scenario: 'the connection is open but silent; requests of every kind',
        expected: '503 `unavailable` after a bounded wait; `/healthz`, `/readyz` and `/metrics` respond',
        runs: responses.length,
        observed: tally(responses.map(outcomeOf)),
      });
    },
    180_000,
  );

  it.runIf(IS_LONG)('or slowly, only makes everything slower', async (context) => {
    file.database.line.line = { delayMs: 15 };
    const responses: ServiceResponse[] = [];
    for (let round = 0; round < times(5, 1); round++) {
      for (const [path, init] of REQUESTS.filter(([path]) => !/jsonl|export|zz/.test(path))) {
        responses.push(await send(path, init));
      }
      responses.push(await upload(`slow ${round}`, samplePackage(50, 100, round)));
    }
    expect(Object.keys(tally(responses.map(outcomeOf)))).toEqual(['200', '201']);
    report(context, {
      area: AREA,
      scenario: 'every packet 15 ms late; requests of every kind',
      expected: 'normal responses, later',
      runs: responses.length,
      observed: tally(responses.map(outcomeOf)),
    });
  });
});

describe('a crowd', () => {
  it.runIf(IS_LONG)(
    'that needs more connections than there are is served in turn or refused',
    async (context) => {
      const slowReaders = new AbortController();
      // exports whose readers take nothing hold their connections
      const { signal } = slowReaders;
      for (let index = 0; index < 2; index++)
        await fetch(`${service.url}/datasets/${sample}/export`, { signal });
      const requests = Array.from({ length: times(600, 80) }, (_, index) => {
        const [path, init] = REQUESTS[index % REQUESTS.length] as (typeof REQUESTS)[number];
        return /jsonl|export/.test(path)
          ? upload(`crowd ${index}`, samplePackage(5, 50, index))
          : send(path, init);
      });
      const responses = await Promise.all(requests);
      slowReaders.abort();
      for (const answer of responses) expect(['200', '201', '503 unavailable']).toContain(outcomeOf(answer));
      await expect.poll(() => metricOf(service.url, 'svc_http_requests_in_progress')).toBe(1);
      expect(await file.database.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);
      for (const dataset of await listDatasets(service.url)) {
        if (dataset.name.startsWith('crowd')) expect(await verifyDataset(service.url, dataset)).toEqual([]);
      }
      report(context, {
        area: AREA,
        scenario:
          'many more concurrent requests than connections (8 in the pool, two of them held by clients that do not read)',
        expected: 'responses in turn, or 503 `unavailable` with `Retry-After`',
        runs: responses.length,
        observed: tally(responses.map(outcomeOf)),
      });
    },
  );
});
