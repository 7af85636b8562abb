import { expect } from 'vitest';
import { openConnection } from '../../../../api/test/raw-connection.ts';
import { metricOf } from '../run-service.ts';
import { samplePackage, uploadForm } from '../sample-packages.ts';
import { type OwnService, serviceForBoth, startService } from '../start-service.ts';
import { ask, outcomeOf, type ServiceResponse } from '../stored-datasets.ts';
import { count, LIMITS, type LimitCase, type Target } from './limit-case.ts';

const upload = (url: string): Promise<ServiceResponse> =>
  ask(`${url}/datasets/upload`, { method: 'POST', body: uploadForm(samplePackage(1), 'small') });

export const postJson = (url: string, body: object, signal?: AbortSignal): Promise<ServiceResponse> =>
  ask(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });

/** Uploads while `count` imports are running, forever or until `endAfterMs`. */
const uploadBeside =
  (imports: number, endAfterMs?: number) =>
  async ({ service, hub }: Target): Promise<string> => {
    hub.fail({ match: /endless/, fault: { kind: 'silent' } });
    const ending = new AbortController();
    const body = { name: 'never', config: { path: 'org/endless' }, mapping: { prompt_column: 'q' } };
    const begun = (): number =>
      service.lines.filter((line) => line.includes('"dataset.import.start"')).length;
    const before = begun();
    const held = Array.from({ length: imports }, () =>
      postJson(`${service.url}/datasets/hub/import`, body, ending.signal),
    );
    try {
      await expect.poll(begun).toBe(before + imports);
      if (endAfterMs !== undefined) setTimeout(() => ending.abort(), endAfterMs);
      const answer = await upload(service.url);
      if (answer.status === 503) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      return outcomeOf(answer);
    } finally {
      ending.abort();
      await Promise.all(held);
      hub.forget();
      await expect.poll(() => metricOf(service.url, 'svc_http_requests_in_progress')).toBe(1);
    }
  };

/** Few, so that a minute's share of one takes longer to come back than any machine takes for all of them. */
const PER_MINUTE = 3;

const limited = serviceForBoth({ SVC_RATE_LIMIT_PER_MINUTE: String(PER_MINUTE) });

/** The outcome of the last of several requests of one client. */
async function lastOf({ service }: OwnService, requests: number): Promise<string> {
  const responses: ServiceResponse[] = [];
  for (let index = 0; index < requests; index++) responses.push(await ask(`${service.url}/datasets`));
  const last = responses.at(-1) as ServiceResponse;
  expect(last.headers.get('ratelimit')).toBeTruthy();
  if (last.status === 429) expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
  // a probe is never refused
  expect((await ask(`${service.url}/healthz`)).status).toBe(200);
  return outcomeOf(last);
}

/** The outcome of an upload that is running at SIGTERM, and whose rest arrives then or never. */
const uploadAtEnd = (drainTimeoutMs: number, isFinished: boolean) => async (): Promise<string> => {
  await using own = await startService({ SVC_DRAIN_TIMEOUT_MS: String(drainTimeoutMs) });
  const { service } = own;
  const body = Buffer.from(await new Response(uploadForm(samplePackage(20, 10_000), 'last')).bytes());
  const boundary = /^--(\S+)/.exec(body.toString('latin1'))?.[1];
  using connection = await openConnection(service.url);
  connection.send(
    `POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${body.byteLength}\r\n\r\n`,
  );
  // a smaller file stays in memory
  connection.send(body.subarray(0, 100_000));
  await expect.poll(() => service.stagedFiles()).toHaveLength(1);
  const ended = service.end('SIGTERM');
  await expect.poll(() => service.lines.some((line) => line.includes('"server.drain"'))).toBe(true);
  if (isFinished) connection.send(body.subarray(100_000));
  const answer = await connection.ended;
  expect(await ended).toBe(0);
  expect(await own.query('SELECT count(*)::int FROM datasets')).toEqual([{ count: isFinished ? 1 : 0 }]);
  if (!isFinished) expect(answer).toMatch(/\r\nRetry-After: \d+\r\n/);
  const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
  return isFinished ? `${status}` : `${status} ${/"code":"(\w+)"/.exec(answer)?.[1]}`;
};

const IMPORTS = LIMITS.SVC_MAX_CONCURRENT_IMPORTS;

/** Every limit of how much runs concurrently, how often and for how long. */
export const WORK_LIMITS: readonly LimitCase[] = [
  {
    limit: 'concurrent imports: `SVC_MAX_CONCURRENT_IMPORTS`',
    within: { what: `${IMPORTS} of them`, outcome: '201', send: uploadBeside(IMPORTS - 1) },
    beyond: {
      what: `${IMPORTS + 1} of them`,
      outcome: '503 unavailable',
      send: uploadBeside(IMPORTS),
    },
    tries: 5,
  },
  {
    limit: 'time that an import waits for a slot: `SVC_IMPORT_WAIT_MS`',
    within: { what: 'a slot well within the time', outcome: '201', send: uploadBeside(IMPORTS, 50) },
    beyond: { what: 'no slot', outcome: '503 unavailable', send: uploadBeside(IMPORTS) },
    tries: 5,
  },
  {
    limit: 'requests per minute and address: `SVC_RATE_LIMIT_PER_MINUTE`',
    within: {
      what: count(PER_MINUTE, 'requests'),
      outcome: '200',
      send: async () => lastOf(await limited.first(), PER_MINUTE),
    },
    beyond: {
      what: count(PER_MINUTE + 1, 'requests'),
      outcome: '429 rate_limited',
      send: async () => {
        await using own = limited.second();
        return await lastOf(own, 1);
      },
    },
    tries: 5,
  },
  {
    limit: 'time for running work to end after SIGTERM: `SVC_DRAIN_TIMEOUT_MS`',
    within: {
      what: 'an upload that ends well within the time',
      outcome: '201',
      send: uploadAtEnd(20_000, true),
    },
    beyond: { what: 'one that never ends', outcome: '503 unavailable', send: uploadAtEnd(500, false) },
    tries: 5,
  },
];
