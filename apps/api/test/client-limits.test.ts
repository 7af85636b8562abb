import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { times } from '../../../tools/vitest/long.ts';
import { report, tally } from '../../standalone/test/faults/report.ts';
import { metricOf } from '../../standalone/test/faults/run-service.ts';
import { samplePackage, uploadForm } from '../../standalone/test/faults/sample-packages.ts';
import {
  ask,
  LEFTOVERS,
  NO_LEFTOVERS,
  outcomeOf,
  storeLarge,
} from '../../standalone/test/faults/stored-datasets.ts';
import { openConnection, type RawConnection, readNothing } from './raw-connection.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let service: TestApi;
/** Lets slow readers go soon. */
let hasty: TestApi;
beforeAll(async () => {
  hasty = await startTestApi({ SVC_SLOW_READER_TIMEOUT_MS: '1500' });
  service = await startTestApi({
    SVC_IMPORT_WAIT_MS: '500',
    SVC_MAX_STREAMS_PER_CLIENT: '2',
    SVC_MAX_EVENT_STREAMS_PER_CLIENT: '2',
    SVC_MAX_UPLOAD_BYTES: String(2 ** 50),
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await hasty[Symbol.asyncDispose]();
});

/** The service, after what an attempt before has left has ended. */
async function idle(of = service): Promise<TestApi> {
  await expect.poll(() => metricOf(of.url, 'svc_http_requests_in_progress')).toBe(1);
  return of;
}

/** A smaller file stays in memory. */
const STAGED_BYTES = 80_000;

/** Begins an upload of a length, sends the start of its file and no more. */
async function beginUpload(contentLength: number): Promise<RawConnection> {
  const connection = await openConnection(service.url);
  connection.send(
    `POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${contentLength}\r\n\r\n` +
      `--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nPK${'x'.repeat(STAGED_BYTES)}`,
  );
  return connection;
}

const outcomeIn = (answer: string): string => {
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(answer) ?? [];
  const [, code] = /"code":"(\w+)"/.exec(answer) ?? [];
  return Number(status) < 400 ? `${status}` : `${status} ${code}`;
};

/** The outcome of an upload that says to be such a share of the free disk. */
const uploadOfShare = (share: number) => async (): Promise<string> => {
  await idle();
  const { bavail, bsize } = await statfs(tmpdir());
  // The file of the attempt before is not this one's.
  await expect.poll(() => service.stagedFiles()).toEqual([]);
  using upload = await beginUpload(Math.floor(bavail * bsize * share));
  await expect
    .poll(async () => upload.answer() !== '' || (await service.stagedFiles()).length === 1)
    .toBe(true);
  return upload.answer() === '' ? 'taken' : outcomeIn(await upload.until(/\}\n?$/));
};

/** The outcome of one more stream of a client that has `count` of them. */
const streamBeside =
  (begin: (url: string) => Promise<string>, others: number) => async (): Promise<string> => {
    const { url } = await idle();
    const path = await begin(url);
    using open = new DisposableStack();
    for (let index = 0; index < others; index++) open.use(await readNothing(url, path));
    using last = await openConnection(url);
    last.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const answer = await last.until(/^HTTP\/1\.1 (?:200 |\d+ [\s\S]*\}\n?$)/);
    if (!answer.startsWith('HTTP/1.1 200')) expect(answer).toMatch(/\r\nRetry-After: \d+\r\n/);
    return outcomeIn(answer);
  };

const itemsOfLarge = async (url: string): Promise<string> => `/datasets/${await storeLarge(url)}/items.jsonl`;

/** Nothing takes the run there, so it does not end. */
const eventsOfRun = async (url: string): Promise<string> => {
  const body = uploadForm(samplePackage(1), 'small');
  const { id: dataset_id } = (await ask(`${url}/datasets/upload`, { method: 'POST', body })).body;
  const run = await ask(`${url}/runs`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ dataset_id, config: { provider: { type: 'echo' }, allow_unscored: true } }),
  });
  return `/runs/${run.body.id}/events`;
};

const readAll = async (): Promise<string> => {
  const { url } = await idle(hasty);
  return outcomeOf(await ask(url + (await itemsOfLarge(url))));
};

const sip = async (): Promise<string> => {
  await idle(hasty);
  const path = await itemsOfLarge(hasty.url);
  const from = hasty.log().length;
  using reader = await readNothing(hasty.url, path);
  // far less than it should
  const sipping = setInterval(() => reader.socket.read(1), 100);
  const outcomes = (): unknown[] =>
    hasty
      .log()
      .slice(from)
      .flatMap(({ event, route, status_code }) =>
        event === 'http.request' && route === '/datasets/:id/items.jsonl' ? [status_code] : [],
      );
  await expect
    .poll(outcomes)
    .toEqual([499])
    .finally(() => clearInterval(sipping));
  return 'ended';
};

/** What is sent, and the outcome that it must have. */
type Attempt = readonly [what: string, outcome: string, send: () => Promise<string>];

/** Limits of what one client takes of what all share, which no lower level tries: what is within each, and beyond. */
const LIMITS: readonly (readonly [limit: string, within: Attempt, beyond: Attempt])[] = [
  [
    'share of the free disk that uploads take: `SVC_MAX_SPOOL_PERCENT`',
    ['40 % of it', 'taken', uploadOfShare(0.4)],
    ['60 % of it', '503 unavailable', uploadOfShare(0.6)],
  ],
  [
    'exports and item streams of one client: `SVC_MAX_STREAMS_PER_CLIENT`',
    ['2 of them', '200', streamBeside(itemsOfLarge, 1)],
    ['3 of them', '429 rate_limited', streamBeside(itemsOfLarge, 2)],
  ],
  [
    'event streams of one client: `SVC_MAX_EVENT_STREAMS_PER_CLIENT`',
    ['2 of them', '200', streamBeside(eventsOfRun, 1)],
    ['3 of them', '429 rate_limited', streamBeside(eventsOfRun, 2)],
  ],
  [
    'time of a reader for 512 KiB of a stream: `SVC_SLOW_READER_TIMEOUT_MS`',
    ['as fast as it comes', '200', readAll],
    ['byte by byte', 'ended', sip],
  ],
];

it.for(LIMITS)('%s', async ([limit, within, beyond], context) => {
  const tries = times(3, 1);
  const found = { within: [] as string[], beyond: [] as string[] };
  for (let index = 0; index < tries; index++) {
    found.within.push(await within[2]());
    found.beyond.push(await beyond[2]());
  }
  expect(tally(found.within)).toEqual({ [within[1]]: tries });
  expect(tally(found.beyond)).toEqual({ [beyond[1]]: tries });
  expect(await queryDatabase(service.databaseUrl, LEFTOVERS)).toEqual(NO_LEFTOVERS);
  await expect.poll(() => service.stagedFiles()).toEqual([]);
  report(context, {
    area: 'Limits',
    scenario: limit,
    expected: `${within[0]}: ${within[1]}; ${beyond[0]}: ${beyond[1]}, and nothing is stored`,
    runs: 2 * tries,
    observed: tally([...found.within, ...found.beyond]),
  });
});
