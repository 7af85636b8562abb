import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildZip } from '../../../../packages/pkg-format/test/build-zip.ts';
import { openConnection } from '../../../api/test/raw-connection.ts';
import { report, tally, times } from './report.ts';
import { metricOf, type ServiceProcess } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask, LEFTOVERS, listDatasets, NO_LEFTOVERS, outcomeOf } from './stored-datasets.ts';

/** Small, so that a test can go beyond each; far enough from another that it is this one that answers. */
const LIMITS = {
  SVC_MAX_UPLOAD_BYTES: 300_000,
  SVC_MAX_ARCHIVE_ENTRIES: 20,
  SVC_MAX_UNCOMPRESSED_BYTES: 2_500_000,
  SVC_MAX_EXPANSION_RATIO: 200,
  SVC_MAX_LINE_BYTES: 20_000,
  SVC_MAX_ASSET_BYTES: 30_000,
  SVC_MAX_JSON_DEPTH: 20,
  SVC_MAX_JSON_BODY_BYTES: 10_000,
  SVC_MAX_FORM_FIELDS: 4,
  SVC_MAX_FORM_FIELD_BYTES: 1000,
  SVC_HEADERS_TIMEOUT_MS: 600,
  SVC_IDLE_BODY_TIMEOUT_MS: 500,
  SVC_JSON_REQUEST_TIMEOUT_MS: 700,
  SVC_MAX_CONCURRENT_IMPORTS: 2,
  SVC_IMPORT_WAIT_MS: 300,
} as const;

let own: OwnService;
let service: ServiceProcess;
beforeAll(async () => {
  own = await startService(
    Object.fromEntries(Object.entries(LIMITS).map(([name, value]) => [name, String(value)])),
  );
  service = own.service;
});
afterAll(() => own[Symbol.asyncDispose]());

const UUID = '00000000-0000-4000-8000-000000000000';
type Files = Readonly<Record<string, string | Uint8Array>>;

async function upload(
  files: Files | Uint8Array,
  fields: readonly (readonly [string, string])[] = [],
): Promise<string> {
  const archive =
    files instanceof Uint8Array
      ? files
      : buildZip({ entries: Object.entries(files).map(([name, content]) => ({ name, content })) });
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  form.append('file', new Blob([archive as Uint8Array<ArrayBuffer>]), 'a.zip');
  return outcomeOf(await ask(`${service.url}/datasets/upload`, { method: 'POST', body: form }));
}

async function patch(body: string, inPieces = false): Promise<string> {
  const init = {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: inPieces ? ReadableStream.from([Buffer.from(body)]) : body,
    duplex: 'half',
  };
  return outcomeOf(await ask(`${service.url}/datasets/${UUID}`, init as RequestInit));
}

/** Sends a start, waits, sends the rest; gives the first answer. */
async function paused(start: string, waitMs: number, rest: string): Promise<string> {
  using connection = await openConnection(service.url);
  connection.send(start);
  const timer = setTimeout(() => connection.send(rest), waitMs);
  const answer = await connection.until(/\r\n\r\n[\s\S]*\}$/);
  clearTimeout(timer);
  const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
  return Number(status) < 400 ? `${status}` : `${status} ${/"code":"(\w+)"/.exec(answer)?.[1]}`;
}

/** Sends the body of a JSON request byte by byte. */
async function trickled(pauseMs: number): Promise<string> {
  using connection = await openConnection(service.url);
  connection.send(jsonHead(12));
  const bytes = [...'{"name":"x"}'];
  const timer = setInterval(() => connection.send(bytes.shift() ?? ''), pauseMs);
  const answer = await connection.until(/\r\n\r\n[\s\S]*\}$/).finally(() => clearInterval(timer));
  return `${/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]} ${/"code":"(\w+)"/.exec(answer)?.[1]}`;
}

const line = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;
const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}1${']'.repeat(depth - 1)}}`;
const many = (count: number): Files =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [index === 0 ? 'sections/a.jsonl' : `x${index}`, '{}']),
  );
/** Sections of a million bytes each: what unpacks to less than 1 MiB may do so at any ratio. */
const millions = (count: number): Files =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`sections/s${index}.jsonl`, '{"a":1}\n'.repeat(125_000)]),
  );
const jsonHead = (length: number): string =>
  `PATCH /datasets/${UUID} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

/** Each limit with something within it and something beyond. */
const CASES: readonly (readonly [
  limit: string,
  within: readonly [string, () => Promise<string>],
  beyond: readonly [string, () => Promise<string>],
])[] = [
  [
    'upload, compressed: `SVC_MAX_UPLOAD_BYTES`',
    ['201', () => upload({ 'sections/a.jsonl': '{}', 'assets/x': randomBytes(20_000) })],
    ['413 upload_too_large', () => upload(randomBytes(300_001))],
  ],
  [
    'archive entries: `SVC_MAX_ARCHIVE_ENTRIES`',
    ['201', () => upload(many(18))],
    ['400 package_limit', () => upload(many(22))],
  ],
  [
    'uncompressed, total: `SVC_MAX_UNCOMPRESSED_BYTES`',
    ['201', () => upload(millions(2))],
    ['400 package_limit', () => upload(millions(3))],
  ],
  [
    'expansion of an entry past its first 1 MiB: `SVC_MAX_EXPANSION_RATIO`',
    ['201', () => upload({ 'sections/a.jsonl': '{"a":1}\n'.repeat(120_000) })],
    ['400 package_limit', () => upload({ 'sections/a.jsonl': '{"a":1}\n'.repeat(300_000) })],
  ],
  [
    'one line: `SVC_MAX_LINE_BYTES`',
    ['201', () => upload({ 'sections/a.jsonl': line(20_000) })],
    ['400 package_limit', () => upload({ 'sections/a.jsonl': line(20_001) })],
  ],
  [
    'one asset: `SVC_MAX_ASSET_BYTES`',
    ['201', () => upload({ 'sections/a.jsonl': '{"assets":["assets/x"]}', 'assets/x': randomBytes(30_000) })],
    [
      '400 package_limit',
      () => upload({ 'sections/a.jsonl': '{"assets":["assets/x"]}', 'assets/x': randomBytes(30_001) }),
    ],
  ],
  [
    'nesting in items: `SVC_MAX_JSON_DEPTH`',
    ['201', () => upload({ 'sections/a.jsonl': nested(20) })],
    ['400 package_invalid_line', () => upload({ 'sections/a.jsonl': nested(21) })],
  ],
  [
    'nesting in bodies: `SVC_MAX_JSON_DEPTH`',
    ['400 invalid_request', () => patch(nested(20))],
    ['400 invalid_json', () => patch(nested(21))],
  ],
  [
    'JSON body, its length declared: `SVC_MAX_JSON_BODY_BYTES`',
    ['404 dataset_not_found', () => patch(`{"name":"x"}${' '.repeat(9988)}`)],
    ['413 body_too_large', () => patch(`{"name":"x"}${' '.repeat(9989)}`)],
  ],
  [
    'JSON body, in pieces of unknown number: `SVC_MAX_JSON_BODY_BYTES`',
    ['404 dataset_not_found', () => patch(`{"name":"x"}${' '.repeat(9988)}`, true)],
    ['413 body_too_large', () => patch(`{"name":"x"}${' '.repeat(9989)}`, true)],
  ],
  [
    'fields of a form: `SVC_MAX_FORM_FIELDS`',
    [
      '201',
      () =>
        upload(samplePackage(1), [
          ['name', 'x'],
          ['description', 'y'],
        ]),
    ],
    [
      '400 invalid_request',
      () =>
        upload(
          samplePackage(1),
          Array.from({ length: 5 }, () => ['name', 'x'] as const),
        ),
    ],
  ],
  [
    'size of a field: `SVC_MAX_FORM_FIELD_BYTES`',
    ['201', () => upload(samplePackage(1), [['description', 'y'.repeat(1000)]])],
    ['400 invalid_request', () => upload(samplePackage(1), [['description', 'y'.repeat(1001)]])],
  ],
  [
    'time for headers: `SVC_HEADERS_TIMEOUT_MS`',
    ['200', () => paused('GET /healthz HTTP/1.1\r\nHost: x\r\n', 10, '\r\n')],
    ['408 request_timeout', () => paused('GET /healthz HTTP/1.1\r\nHost: x\r\n', 10_000, '\r\n')],
  ],
  [
    'time without a byte of the body: `SVC_IDLE_BODY_TIMEOUT_MS`',
    ['404 dataset_not_found', () => paused(`${jsonHead(12)}{`, 10, '"name":"x"}')],
    ['408 request_timeout', () => paused(`${jsonHead(12)}{`, 10_000, '"name":"x"}')],
  ],
  [
    'time for a whole JSON request: `SVC_JSON_REQUEST_TIMEOUT_MS`',
    ['404 dataset_not_found', () => trickled(1)],
    ['408 request_timeout', () => trickled(150)],
  ],
];

describe('a limit', () => {
  it.for(CASES)('%s', { timeout: 60_000 }, async ([limit, [good, within], [bad, beyond]], context) => {
    const before = (await listDatasets(service.url)).length;
    const tries = times(10, 1);
    const accepted: string[] = [];
    const refused: string[] = [];
    for (let index = 0; index < tries; index++) {
      accepted.push(await within());
      refused.push(await beyond());
    }
    expect(tally(accepted)).toEqual({ [good]: tries });
    expect(tally(refused)).toEqual({ [bad]: tries });
    expect(await listDatasets(service.url)).toHaveLength(before + (good === '201' ? tries : 0));
    expect(await own.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);
    await expect.poll(() => service.spooled()).toEqual([]);
    report(context, {
      area: 'Limits',
      fault: limit,
      promised: `${good} within it, ${bad} beyond it; nothing is kept of that`,
      tried: 2 * tries,
      happened: tally([...accepted, ...refused]),
    });
  });

  it('SVC_MAX_CONCURRENT_IMPORTS: those that wait too long are told to come again', async (context) => {
    const answers = await Promise.all(
      Array.from({ length: times(200, 40) }, (_, index) =>
        ask(`${service.url}/datasets/upload`, {
          method: 'POST',
          body: uploadForm(samplePackage(200, 500, index), `at once ${index}`),
        }),
      ),
    );
    for (const answer of answers) expect(['201', '503 unavailable']).toContain(outcomeOf(answer));
    for (const { headers } of answers.filter(({ status }) => status === 503)) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await expect.poll(() => metricOf(service.url, 'svc_http_requests_in_progress')).toBe(1);
    report(context, {
      area: 'Limits',
      fault:
        'imports at once, two of them served, the rest waiting 300 ms: `SVC_MAX_CONCURRENT_IMPORTS`, `SVC_IMPORT_WAIT_MS`',
      promised: '201, or 503 `unavailable` with `Retry-After`',
      tried: answers.length,
      happened: tally(answers.map(outcomeOf)),
    });
  });

  it('SVC_RATE_LIMIT_PER_MINUTE', async (context) => {
    await using limited = await startService({ SVC_RATE_LIMIT_PER_MINUTE: '30' });
    const answers = [];
    for (let index = 0; index < 60; index++) answers.push(await ask(`${limited.service.url}/datasets`));
    const seen = tally(answers.map(outcomeOf));
    expect(Object.keys(seen)).toEqual(['200', '429 rate_limited']);
    expect(seen['200']).toBeGreaterThanOrEqual(30);
    for (const { headers } of answers.filter(({ status }) => status === 429)) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('ratelimit')).toBeTruthy();
    }
    expect((await ask(`${limited.service.url}/healthz`)).status).toBe(200);
    report(context, {
      area: 'Limits',
      fault: 'requests of one address, 30 a minute allowed: `SVC_RATE_LIMIT_PER_MINUTE`',
      promised: '429 `rate_limited` with `RateLimit` and `Retry-After`; probes still answer',
      tried: answers.length,
      happened: seen,
    });
  });
});
