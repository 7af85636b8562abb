import { randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { buildZip } from '../../../../../packages/pkg-format/test/build-zip.ts';
import { openConnection, type RawConnection } from '../../../../api/test/raw-connection.ts';
import { metricOf, type ServiceProcess } from '../run-service.ts';
import { samplePackage, uploadForm } from '../sample-packages.ts';
import { type OwnService, serviceForBoth } from '../start-service.ts';
import { ask, outcomeOf } from '../stored-datasets.ts';
import { count, type LimitCase, type Target } from './limit-case.ts';

/** A smaller file stays in memory. */
const STAGED_BYTES = 80_000;

/** Begins an upload of a length, sends the start of its file and no more. */
async function beginUpload({ url }: ServiceProcess, contentLength: number): Promise<RawConnection> {
  const connection = await openConnection(url);
  connection.send(
    `POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${contentLength}\r\n\r\n` +
      `--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nPK${'x'.repeat(STAGED_BYTES)}`,
  );
  return connection;
}

let large: Uint8Array<ArrayBuffer> | undefined;

/** Stores a dataset larger than the buffers between the service and a client that does not read. */
export async function storeLarge(url: string, headers: Record<string, string> = {}): Promise<string> {
  if (large === undefined) {
    const lines = Array.from(
      { length: 100 },
      () => `{"inputs":{"prompt":"${randomBytes(50_000).toString('hex')}"}}`,
    );
    const entries = [{ name: 'sections/default.jsonl', content: lines.join('\n') }];
    large = buildZip({ entries }) as Uint8Array<ArrayBuffer>;
    // closed connections are noticed before one of them is reused
    await delay(50);
  }
  const stored = await ask(`${url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(large, 'large'),
    headers,
  });
  expect(stored.status).toBe(201);
  return stored.body.id;
}

/** Asks for a stream, takes its head and nothing more. */
export async function readNothing(url: string, path: string, headers = ''): Promise<RawConnection> {
  const connection = await openConnection(url);
  connection.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
  await connection.until(/^HTTP\/1\.1 200 /);
  connection.socket.pause();
  return connection;
}

const outcomeIn = (answer: string): string => {
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(answer) ?? [];
  const [, code] = /"code":"(\w+)"/.exec(answer) ?? [];
  return Number(status) < 400 ? `${status}` : `${status} ${code}`;
};

const MAX_ROWS = 100;
/** Timeout of slow readers and uploads. */
const SLOW_TIMEOUT_MS = 1500;

/** Limits of what one client takes, on a service that other limits do not disturb. */
export const CLIENT_ENV: Readonly<Record<string, string>> = {
  SVC_MAX_CONCURRENT_UPLOADS: '4',
  SVC_IMPORT_WAIT_MS: '500',
  SVC_MAX_ROWS: String(MAX_ROWS),
  SVC_MAX_UPLOAD_BYTES: String(2 ** 50),
  SVC_MAX_STREAMS_PER_CLIENT: '2',
  SVC_MAX_EVENT_STREAMS_PER_CLIENT: '2',
  SVC_SLOW_READER_TIMEOUT_MS: String(SLOW_TIMEOUT_MS),
  SVC_SLOW_UPLOAD_TIMEOUT_MS: String(SLOW_TIMEOUT_MS),
};

/** The service, after what an attempt before has left has ended. */
async function idle({ shared }: Target): Promise<ServiceProcess> {
  await expect.poll(() => metricOf(shared.url, 'svc_http_requests_in_progress')).toBe(1);
  return shared;
}

/** The outcome of an upload while this many others arrive. */
const uploadBeside =
  (others: number) =>
  async (target: Target): Promise<string> => {
    const service = await idle(target);
    using arriving = new DisposableStack();
    for (let index = 0; index < others; index++) arriving.use(await beginUpload(service, 100_000));
    await expect.poll(() => service.stagedFiles()).toHaveLength(others);
    const body = uploadForm(samplePackage(1), 'small');
    return outcomeOf(await ask(`${service.url}/datasets/upload`, { method: 'POST', body }));
  };

/** The outcome of an upload of this many rows. */
const uploadRows =
  (rows: number) =>
  async (target: Target): Promise<string> => {
    const { url } = await idle(target);
    const body = new FormData();
    body.append('file', new Blob([`q\n${'x\n'.repeat(rows)}`]), 'rows.csv');
    body.append('mapping', '{"prompt_column": "q"}');
    return outcomeOf(await ask(`${url}/datasets/upload`, { method: 'POST', body }));
  };

/** The outcome of an upload that says to be such a share of the free disk. */
const uploadOfShare =
  (share: number) =>
  async (target: Target): Promise<string> => {
    const service = await idle(target);
    const { bavail, bsize } = await statfs(tmpdir());
    // The file of the attempt before is not this one's.
    await expect.poll(() => service.stagedFiles()).toEqual([]);
    using upload = await beginUpload(service, Math.floor(bavail * bsize * share));
    await expect
      .poll(async () => upload.answer() !== '' || (await service.stagedFiles()).length === 1)
      .toBe(true);
    return upload.answer() === '' ? 'taken' : outcomeIn(await upload.until(/\}\n?$/));
  };

/** The outcome of one more stream of a client that has `count` of them. */
const streamBeside =
  (begin: (url: string) => Promise<string>, others: number) =>
  async (target: Target): Promise<string> => {
    const { url } = await idle(target);
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

const readAll = async (target: Target): Promise<string> => {
  const { url } = await idle(target);
  return outcomeOf(await ask(url + (await itemsOfLarge(url))));
};

const sip = async (target: Target): Promise<string> => {
  const service = await idle(target);
  const path = await itemsOfLarge(service.url);
  const from = service.lines.length;
  using reader = await readNothing(service.url, path);
  // far less than it should
  const sipping = setInterval(() => reader.socket.read(1), 100);
  const outcomes = (): unknown[] =>
    service
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

/** The outcome of an upload that sends this many bytes every quarter of the time allowed for 64 KiB. */
const uploadInPieces =
  (pieceBytes: number) =>
  async (target: Target): Promise<string> => {
    const service = await idle(target);
    const body = Buffer.from(await new Response(uploadForm(samplePackage(MAX_ROWS, 20_000), 'slow')).bytes());
    const boundary = /^--(\S+)/.exec(body.toString('latin1'))?.[1];
    using connection = await openConnection(service.url);
    connection.send(
      `POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${body.byteLength}\r\n\r\n`,
    );
    let isOver = false;
    const answer = connection.until(/\}\n?$/).finally(() => {
      isOver = true;
    });
    for (let at = 0; at < body.byteLength && !isOver; at += pieceBytes) {
      connection.send(body.subarray(at, at + pieceBytes));
      await delay(SLOW_TIMEOUT_MS / 4);
    }
    return outcomeIn(await answer);
  };

const FAILURES = 3;
const locked = serviceForBoth({
  SVC_API_KEYS: 'viewer:the-one-key-that-is-right',
  SVC_FAILED_KEYS_PER_MINUTE: String(FAILURES),
});

/** The outcome of the last of several wrong keys. */
async function lastOfWrongKeys({ service }: OwnService, attempts: number): Promise<string> {
  let outcome = '';
  for (let index = 0; index < attempts; index++) {
    const headers = { Authorization: `Bearer one-of-many-wrong-keys-${attempts}-${index}` };
    const answer = await ask(`${service.url}/datasets`, { headers });
    if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    outcome = outcomeOf(answer);
  }
  return outcome;
}

/** Every limit of what one client may take of what all share. */
export const CLIENT_LIMITS: readonly LimitCase[] = [
  {
    limit: 'uploads of one client, while they arrive: half of `SVC_MAX_CONCURRENT_UPLOADS`',
    within: { what: '2 of them', outcome: '201', send: uploadBeside(1) },
    beyond: { what: '3 of them', outcome: '503 unavailable', send: uploadBeside(2) },
    tries: 3,
  },
  {
    limit: 'share of the free disk that uploads take: `SVC_MAX_SPOOL_PERCENT`',
    within: { what: '40 % of it', outcome: 'taken', send: uploadOfShare(0.4) },
    beyond: { what: '60 % of it', outcome: '503 unavailable', send: uploadOfShare(0.6) },
    tries: 3,
  },
  {
    limit: 'rows of one import: `SVC_MAX_ROWS`',
    within: { what: `${MAX_ROWS} rows`, outcome: '201', send: uploadRows(MAX_ROWS) },
    beyond: { what: `${MAX_ROWS + 1} rows`, outcome: '400 package_limit', send: uploadRows(MAX_ROWS + 1) },
    tries: 3,
  },
  {
    limit: 'exports and item streams of one client: `SVC_MAX_STREAMS_PER_CLIENT`',
    within: { what: '2 of them', outcome: '200', send: streamBeside(itemsOfLarge, 1) },
    beyond: {
      what: '3 of them',
      outcome: '429 rate_limited',
      send: streamBeside(itemsOfLarge, 2),
    },
    tries: 3,
  },
  {
    limit: 'event streams of one client: `SVC_MAX_EVENT_STREAMS_PER_CLIENT`',
    within: { what: '2 of them', outcome: '200', send: streamBeside(eventsOfRun, 1) },
    beyond: {
      what: '3 of them',
      outcome: '429 rate_limited',
      send: streamBeside(eventsOfRun, 2),
    },
    tries: 3,
  },
  {
    limit: 'time of a reader for 512 KiB of a stream: `SVC_SLOW_READER_TIMEOUT_MS`',
    within: { what: 'as fast as it comes', outcome: '200', send: readAll },
    beyond: { what: 'byte by byte', outcome: 'ended', send: sip },
    tries: 3,
  },
  {
    limit: 'time of an upload for 64 KiB: `SVC_SLOW_UPLOAD_TIMEOUT_MS`',
    within: { what: '1 MiB in it, longer than it', outcome: '201', send: uploadInPieces(256 * 1024) },
    beyond: { what: '4 kB in it', outcome: '408 request_timeout', send: uploadInPieces(1000) },
    tries: 3,
  },
  {
    limit: 'wrong keys a minute of one address: `SVC_FAILED_KEYS_PER_MINUTE`',
    within: {
      what: count(FAILURES, 'of them'),
      outcome: '401 unauthenticated',
      send: async () => lastOfWrongKeys(await locked.first(), FAILURES),
    },
    beyond: {
      what: count(FAILURES + 1, 'of them'),
      outcome: '429 rate_limited',
      send: async () => {
        await using own = locked.second();
        return await lastOfWrongKeys(own, 1);
      },
    },
    tries: 3,
  },
];
