import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { finished } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openConnection } from '../../../api/test/raw-connection.ts';
import { report, tally } from './report.ts';
import { metricOf, type ServiceProcess } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import {
  ask,
  CLOSED,
  fateOf,
  LEFTOVERS,
  listDatasets,
  NO_LEFTOVERS,
  outcomeOf,
  type ServiceResponse,
  upload,
  verifyDataset,
} from './stored-datasets.ts';
import { useDatabase } from './use-database.ts';

const AREA = 'Process termination';
const file = useDatabase();

/** Sends a request on a separate connection. */
function askOnce(url: string, headers: Record<string, string>): Promise<ServiceResponse> {
  const nothing = { headers: new Headers(), body: null, text: '' };
  return new Promise((resolve) => {
    request(url, { headers, agent: false }, (response) => {
      response.resume();
      const { statusCode: status = 0 } = response;
      finished(response, (error) => resolve({ ...nothing, status: error ? 0 : status, code: '' }));
    })
      .on('error', ({ code = '' }: NodeJS.ErrnoException) => resolve({ ...nothing, status: 0, code }))
      .end();
  });
}

/** Every dataset is complete, there is nothing else, and no staging file is left. Later calls skip checked datasets. */
const whole = new Set<string>();
async function expectWhole(service: ServiceProcess): Promise<string[]> {
  const stored = await listDatasets(service.url);
  const unread = stored.filter(({ id }) => !whole.has(id));
  const problems = await Promise.all(unread.map((dataset) => verifyDataset(service.url, dataset)));
  for (const { id } of unread) whole.add(id);
  expect(problems.flat()).toEqual([]);
  expect(await file.database.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);
  await expect.poll(() => service.stagedFiles()).toEqual([]);
  return stored.map(({ name }) => name);
}

describe('SIGTERM under load', () => {
  it('lets what was accepted end, refuses the rest, and leaves nothing half', async (context) => {
    const rounds = 12;
    const found: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const service = await file.start();
      const names = Array.from({ length: 30 }, (_, index) => `term ${round} ${index}`);
      const ids = names.map(() => randomUUID());
      const responses = names.map((name, index) =>
        upload(service, name, samplePackage(400, 2000, index), {
          'X-Request-ID': ids[index] ?? '',
        }),
      );
      await expect
        .poll(() => service.lines.filter((line) => line.includes('"dataset.import.start"')).length)
        .toBeGreaterThan(round % 5);
      const ended = service.end('SIGTERM');
      const responded = await Promise.all(responses);
      expect(await ended).toBe(0);
      const outcomes = responded.map((answer, index) => fateOf(answer, ids[index] ?? '', service.lines));
      expect(service.log().at(-1)).toMatchObject({ event: 'server.stop', exit_code: 0 });
      // all were connected when the signal came
      for (const outcome of outcomes) expect(['201', '503 unavailable']).toContain(outcome);
      expect(tally(outcomes)).toHaveProperty('201');
      found.push(...outcomes);

      const next = await file.start();
      const stored = (await expectWhole(next)).filter((name) => names.includes(name));
      expect(stored.sort()).toEqual(names.filter((_, index) => outcomes[index] === '201').sort());
      await next.end('SIGTERM');
    }
    report(context, {
      area: AREA,
      scenario: 'SIGTERM during 30 uploads',
      expected:
        'every open connection is accepted and gets a response, 201 or 503; exit code 0; exactly the datasets with 201 are stored',
      runs: found.length,
      observed: tally(found),
    });
  }, 180_000);

  it('answers what it has read, while clients keep coming', async (context) => {
    const rounds = 10;
    const found: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const service = await file.start();
      const asked: { readonly id: string; readonly answer: ServiceResponse }[] = [];
      const client = async (isKeptAlive: boolean): Promise<void> => {
        for (;;) {
          const id = randomUUID();
          const headers = { 'X-Request-ID': id };
          const url = `${service.url}/datasets?limit=1`;
          const answer = isKeptAlive ? await ask(url, { headers }) : await askOnce(url, headers);
          asked.push({ id, answer });
          if (answer.code === 'ECONNREFUSED') return;
        }
      };
      const clients = Array.from({ length: 16 }, (_, index) => client(index % 2 === 0));
      await expect.poll(() => asked.length).toBeGreaterThan(100);
      expect(await service.end('SIGTERM')).toBe(0);
      await Promise.all(clients);
      found.push(...asked.map(({ id, answer }) => fateOf(answer, id, service.lines)));
    }
    expect(tally(found)).not.toHaveProperty('read and not answered');
    for (const fate of Object.keys(tally(found))) {
      expect(['200', '503 unavailable', 'connection refused', CLOSED]).toContain(fate);
    }
    report(context, {
      area: AREA,
      scenario: 'SIGTERM while 16 clients send requests continuously, on kept and on new connections',
      expected:
        'every request that was read gets a response; afterwards, connections are refused. In between, the system may accept a connection, or a client reuse one, at the moment the service closes it: nothing of that request is read, and the client can send it again',
      runs: found.length,
      observed: tally(found),
    });
  });

  it('rolls back what does not end in time, says so, and ends', async (context) => {
    const service = await file.start({ env: { SVC_DRAIN_TIMEOUT_MS: '500' } });
    const before = await expectWhole(service);
    const connections = await Promise.all(Array.from({ length: 5 }, () => openConnection(service.url)));
    for (const connection of connections) {
      connection.send(
        'POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n' +
          'Content-Length: 100000\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' +
          // what is smaller stays in memory
          'x'.repeat(80_000),
      );
    }
    await expect.poll(() => service.stagedFiles()).toHaveLength(5);
    expect(await service.end('SIGTERM')).toBe(0);
    const responses = await Promise.all(connections.map(({ ended }) => ended));
    for (const answer of responses) expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*"code":"unavailable"/);
    for (const answer of responses) expect(answer).toMatch(/\r\nRetry-After: \d+\r\n/);
    const next = await file.start();
    expect(await expectWhole(next)).toEqual(before);
    report(context, {
      area: AREA,
      scenario: 'SIGTERM while uploads hang for longer than the drain timeout',
      expected: '503 `unavailable` with `Retry-After`, exit code 0, nothing is left over',
      runs: responses.length,
      observed: { '503 unavailable': responses.length },
    });
  });

  it('immediately ends idle connections and watchers of jobs', async (context) => {
    // longer than this test may take: the process must not wait for the end of the drain
    const service = await file.start({ env: { SVC_DRAIN_TIMEOUT_MS: '3600000' } });
    using silent = await openConnection(service.url);
    using idle = await openConnection(service.url);
    idle.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await idle.until(/"status":"ok"/);
    const form = uploadForm(samplePackage(3), 'watched');
    const job = await ask(`${service.url}/datasets/upload`, {
      method: 'POST',
      body: form,
      headers: { Prefer: 'respond-async' },
    });
    expect(job.status).toBe(202);
    using watcher = await openConnection(service.url);
    watcher.send(`GET /jobs/${job.body.id}/events HTTP/1.1\r\nHost: x\r\n\r\n`);
    await watcher.until(/event: progress/);
    expect(await service.end('SIGTERM')).toBe(0);
    await Promise.all([silent.ended, idle.ended, watcher.ended]);
    report(context, {
      area: AREA,
      scenario: 'SIGTERM with idle connections and job event streams',
      expected: 'the process does not wait for them',
      runs: 3,
      observed: { 'ended immediately': 3 },
    });
  });

  it('twice ends the process immediately', async (context) => {
    const service = await file.start();
    using connection = await openConnection(service.url);
    connection.send('POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n');
    connection.send('Content-Type: multipart/form-data; boundary=b\r\n\r\n');
    // the request for the metric is another one
    await expect.poll(() => metricOf(service.url, 'svc_http_requests_in_progress')).toBe(2);
    service.child.kill('SIGTERM');
    await expect.poll(() => service.lines.some((line) => line.includes('"server.drain"'))).toBe(true);
    await delay(400);
    expect(await service.end('SIGTERM')).toBe(1);
    report(context, {
      area: AREA,
      scenario: 'a second SIGTERM during the drain',
      expected: 'the process ends immediately, with exit code 1',
      runs: 1,
      observed: { 'ended with 1': 1 },
    });
  });
});

describe('SIGKILL', () => {
  const KINDS = ['upload', 'export', 'delete', 'hub import'] as const;

  it('at any moment leaves every dataset whole or absent', async (context) => {
    const rounds = 60;
    const found: string[] = [];
    const archive = samplePackage(1500, 3000, 5);
    let service = await file.start();
    expect((await upload(service, 'stays', samplePackage(300, 300))).status).toBe(201);
    for (let round = 0; round < rounds; round++) {
      const kind = KINDS[round % KINDS.length] as (typeof KINDS)[number];
      const name = `kill ${round}`;
      const { body: victim } = await upload(service, `${name} victim`, samplePackage(1000, 1000, round));
      const act = {
        upload: () => upload(service, name, archive),
        export: () => ask(`${service.url}/datasets/${victim.id}/export`),
        delete: () => ask(`${service.url}/datasets/${victim.id}`, { method: 'DELETE' }),
        'hub import': () =>
          ask(`${service.url}/datasets/hub/import`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ name, config: { path: 'org/x' }, mapping: { prompt_column: 'q' } }),
          }),
      }[kind];
      const answer = act();
      await delay((round * 53) % 180);
      await service.end('SIGKILL');
      const outcome = outcomeOf(await answer);
      found.push(`${kind}: ${outcome === 'no answer' ? outcome : 'answered before'}`);

      service = await file.start();
      const names = await expectWhole(service);
      expect(names).toContain('stays');
      if (outcome === '201') expect(names).toContain(name);
      if (outcome === '204') expect(names).not.toContain(`${name} victim`);
      if (kind !== 'delete') expect(names).toContain(`${name} victim`);
    }
    report(context, {
      area: AREA,
      scenario: 'SIGKILL during an upload, an export, a deletion or a hub import, then a new start',
      expected:
        'every dataset is complete or absent, confirmed changes are kept, no row or file is left over',
      runs: rounds,
      observed: tally(found),
    });
  }, 300_000);
});
