import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildZip } from '../../../../packages/pkg-format/test/build-zip.ts';
import { times } from '../../../../tools/vitest/long.ts';
import { openConnection } from '../../../api/test/raw-connection.ts';
import { report, tally } from './report.ts';
import { metricOf, type ServiceProcess } from './run-service.ts';
import { samplePackage } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask, LEFTOVERS, listDatasets, NO_LEFTOVERS, verifyDataset } from './stored-datasets.ts';

let cleanUp: AsyncDisposableStack;
let own: OwnService;
let service: ServiceProcess;
/** Waits for slow clients for a moment only, which other clients of a busy machine exceed as well. */
let impatient: OwnService;
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  own = cleanUp.use(await startService());
  service = own.service;
  impatient = cleanUp.use(
    await startService({
      SVC_HEADERS_TIMEOUT_MS: '500',
      SVC_IDLE_BODY_TIMEOUT_MS: '500',
      SVC_JSON_REQUEST_TIMEOUT_MS: '1500',
      SVC_SLOW_UPLOAD_TIMEOUT_MS: '1500',
    }),
  );
});
afterAll(() => cleanUp.disposeAsync());

const UUID = '00000000-0000-4000-8000-000000000000';
const zip = (files: Readonly<Record<string, string>>): Buffer =>
  Buffer.from(buildZip({ entries: Object.entries(files).map(([name, content]) => ({ name, content })) }));
const ARCHIVE = Buffer.from(samplePackage(3));

/** A request as bytes, with its body's length. */
const requestOf = (line: string, headers: string, body: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(
      `${line} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    ),
    Buffer.from(body),
  ]);
const field = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (archive: Buffer, fileName: string | Buffer = 'a.zip'): Buffer =>
  Buffer.concat([
    Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="'),
    Buffer.from(fileName),
    Buffer.from('"\r\n\r\n'),
    archive,
    Buffer.from('\r\n'),
  ]);
const END = '--b--\r\n';
const formOf = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part)));
const FORM = 'Content-Type: multipart/form-data; boundary=b\r\n';
const JSON_BODY = 'Content-Type: application/json\r\n';
const upload = (...parts: readonly (string | Buffer)[]): Buffer =>
  requestOf('POST /datasets/upload', FORM, formOf(...parts));
const patch = (body: string | Buffer): Buffer => requestOf(`PATCH /datasets/${UUID}`, JSON_BODY, body);

/** The first answer in a word: its status, with its code where it is an error. */
function outcomeOf(answer: string): string {
  const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'no answer';
  const code = Number(status) < 400 ? undefined : /"code":"(\w+)"/.exec(answer)?.[1];
  return code === undefined ? status : `${status} ${code}`;
}

/** Sends bytes and waits for a whole answer, or for the end of the connection. */
async function exchange(bytes: Uint8Array): Promise<string> {
  using connection = await openConnection(service.url);
  connection.send(bytes);
  const responded = connection.until(/\r\n\r\n[\s\S]*\}\n?$/).catch(() => '');
  await Promise.race([responded, connection.ended]);
  return outcomeOf(connection.answer());
}

/** Sends the start of a request, then a byte now and then until the service ends the connection. */
async function dribble(start: Uint8Array | string, byte: string): Promise<string> {
  using connection = await openConnection(impatient.service.url);
  connection.send(start);
  let over = false;
  const ended = connection.ended.finally(() => {
    over = true;
  });
  while (!over) {
    if (byte !== '') connection.send(byte);
    await delay(50);
  }
  return outcomeOf(await ended);
}

/** Sends part of a request, then disconnects. */
async function leave(request: Buffer, share: number): Promise<string> {
  using connection = await openConnection(impatient.service.url);
  connection.send(request.subarray(0, Math.floor((request.byteLength - 1) * share)));
  await delay(20 * share);
  return 'gone';
}

const DEEP = 100_000;
const FILE_NAMES: readonly (string | Buffer)[] = [
  '../../etc/passwd',
  'C:\\windows\\system32\\x.zip',
  '/absolute/x.zip',
  'a\tb\x07\x1b[31mred.zip',
  'line\u2028separator.zip',
  Buffer.from([0x78, 0xff, 0xfe, 0xed, 0xa0, 0x80]),
  '.',
  '..',
  ' ',
  'x'.repeat(3000),
  'con.zip\x7f',
  '\u202egpj.exe',
];

type Case = readonly [
  area: string,
  scenario: string,
  expected: string,
  tries: readonly [long: number, short: number],
  outcomes: readonly string[],
  act: (index: number) => Promise<string>,
];
const SLOW = 'Slow clients';
const FORMS = 'Forms';
const BODIES = 'Bodies';
const HTTP = 'HTTP';
const LET_GO = '408 `request_timeout`; slot, file and transaction are released';

const CASES: readonly Case[] = [
  [
    SLOW,
    'a silent connection',
    'closed after the header timeout',
    [20, 1],
    ['408 request_timeout', 'no answer'],
    () => dribble('', ''),
  ],
  [
    SLOW,
    'headers that arrive slowly',
    LET_GO,
    [20, 1],
    ['408 request_timeout'],
    () => dribble('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'x'),
  ],
  [
    SLOW,
    'a JSON body that stalls',
    LET_GO,
    [20, 1],
    ['408 request_timeout'],
    () =>
      dribble(
        `PATCH /datasets/${UUID} HTTP/1.1\r\nHost: x\r\n${JSON_BODY}Content-Length: 99\r\n\r\n{"name"`,
        '',
      ),
  ],
  [
    SLOW,
    'a JSON body that arrives slowly without an end',
    LET_GO,
    [20, 1],
    ['408 request_timeout'],
    () =>
      dribble(`PATCH /datasets/${UUID} HTTP/1.1\r\nHost: x\r\n${JSON_BODY}Content-Length: 999\r\n\r\n{`, ' '),
  ],
  [
    SLOW,
    'an upload that stalls, at any point',
    LET_GO,
    [40, 2],
    ['408 request_timeout'],
    (index) => {
      const whole = upload(file(ARCHIVE), END);
      const head = whole.indexOf('\r\n\r\n') + 4;
      return dribble(whole.subarray(0, head + ((index * 37) % (whole.byteLength - head - 1))), '');
    },
  ],
  [
    SLOW,
    'an upload that arrives slowly without an end, at any point',
    LET_GO,
    [40, 2],
    ['408 request_timeout'],
    (index) =>
      dribble(
        [
          `POST /datasets/upload HTTP/1.1\r\nHost: x\r\n${FORM}Content-Length: 9999999\r\n\r\n`,
          `POST /datasets/upload HTTP/1.1\r\nHost: x\r\n${FORM}Content-Length: 9999999\r\n\r\n${field('name', 'x')}${file(ARCHIVE).subarray(0, 100)}`,
          `POST /datasets/upload HTTP/1.1\r\nHost: x\r\n${FORM}Transfer-Encoding: chunked\r\n\r\n5\r\n--b\r\n\r\n`,
        ][index % 3] as string,
        index % 3 === 2 ? '1\r\nx\r\n' : 'x',
      ),
  ],
  [
    SLOW,
    'uploads whose clients disconnect, at any point',
    'nothing is stored; slot, file and transaction are released',
    [200, 20],
    ['gone'],
    (index) => leave(upload(field('name', 'gone'), file(ARCHIVE), END), ((index * 31) % 100) / 100),
  ],
  [
    FORMS,
    'parts in any order, the name missing or after the file',
    '201',
    [30, 6],
    ['201'],
    (index) =>
      exchange(
        [
          upload(file(ARCHIVE), field('name', 'after'), END),
          upload(field('name', 'before'), file(ARCHIVE), END),
          upload(file(ARCHIVE), END),
        ][index % 3] as Buffer,
      ),
  ],
  [
    FORMS,
    'file names with paths, control and other unusual characters, of 3,000 characters',
    '201, and the dataset’s name is one line of text without a path; else 400 `invalid_request`',
    [60, 12],
    ['201', '400 invalid_request'],
    (index) => exchange(upload(file(ARCHIVE, FILE_NAMES[index % FILE_NAMES.length]), END)),
  ],
  [
    FORMS,
    'no file; two files; a duplicate field; an unknown field; a field without a name',
    '400 `invalid_request`, or `unsupported_file` for two packages',
    [50, 5],
    ['400 invalid_request', '400 unsupported_file'],
    (index) =>
      exchange(
        [
          upload(field('name', 'x'), END),
          upload(file(ARCHIVE), file(ARCHIVE), END),
          upload(field('name', 'x'), field('name', 'y'), file(ARCHIVE), END),
          upload(field('token', 'x'), file(ARCHIVE), END),
          upload('--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n', END),
        ][index % 5] as Buffer,
      ),
  ],
  [
    FORMS,
    'no boundary; another boundary; an empty body; a truncated body',
    '400 `invalid_request`',
    [40, 2],
    ['400 invalid_request'],
    (index) =>
      exchange(
        [
          requestOf(
            'POST /datasets/upload',
            'Content-Type: multipart/form-data\r\n',
            formOf(file(ARCHIVE), END),
          ),
          requestOf(
            'POST /datasets/upload',
            'Content-Type: multipart/form-data; boundary=c\r\n',
            formOf(file(ARCHIVE), END),
          ),
          upload(),
          upload(file(ARCHIVE)),
        ][index % 4] as Buffer,
      ),
  ],
  [
    FORMS,
    'a million tiny fields',
    '400 `invalid_request` as soon as the limit is exceeded',
    [5, 1],
    ['400 invalid_request'],
    () => exchange(upload(Buffer.alloc(54_000_000, field('name', '')), END)),
  ],
  [
    BODIES,
    `JSON nested ${DEEP.toLocaleString('en')} deep: as a body, in an item, in a manifest`,
    '400, or 413 for a body with too many values, before any recursion',
    [60, 6],
    ['400 invalid_json', '413 body_too_large', '400 package_invalid_line', '400 package_invalid_json'],
    (index) => {
      const [open, close] = index % 2 === 0 ? ['[', ']'] : ['{"a":', '}'];
      const bomb = `{"x":${open?.repeat(DEEP)}1${close?.repeat(DEEP)}}`;
      return exchange(
        [
          patch(bomb),
          upload(file(zip({ 'sections/a.jsonl': bomb })), END),
          upload(file(zip({ 'sections/a.jsonl': '{}', 'manifest.json': bomb })), END),
        ][index % 3] as Buffer,
      );
    },
  ],
  [
    BODIES,
    'invalid JSON: truncated, duplicate keys, not UTF-8, two values, nothing, a word',
    '400 `invalid_json`',
    [60, 6],
    ['400 invalid_json'],
    (index) =>
      exchange(
        patch(
          [
            '{"name":',
            '{"name":"a","name":"b"}',
            Buffer.from('{"name":"\xff"}', 'latin1'),
            '{}{}',
            '',
            'NaN',
          ][index % 6] ?? '',
        ),
      ),
  ],
  [
    BODIES,
    'an archive that expands to a thousand times its size',
    '400 `package_limit`, nothing stored',
    [20, 2],
    ['400 package_limit'],
    () => exchange(upload(file(zip({ 'sections/a.jsonl': `{"a":"${'x'.repeat(8_000_000)}"}` })), END)),
  ],
  [
    HTTP,
    'a hundred pipelined requests on one connection, including errors',
    'all get responses, in order',
    [20, 2],
    ['all in order'],
    async () => {
      using connection = await openConnection(service.url);
      const paths = Array.from({ length: 100 }, (_, index) =>
        index % 3 === 0 ? '/healthz' : `/no/${index}`,
      );
      connection.send(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
      await expect
        .poll(() => connection.answer().match(/(?<=HTTP\/1\.1 )\d+/g))
        .toEqual(paths.map((path) => (path === '/healthz' ? '200' : '404')));
      return 'all in order';
    },
  ],
  [
    HTTP,
    'headers, or a path, of 20 kB and more',
    '431',
    [40, 2],
    ['431 invalid_request'],
    (index) =>
      exchange(
        Buffer.from(
          index % 2 === 0
            ? `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000 << (index % 5))}\r\n\r\n`
            : `GET /${'x'.repeat(20_000 << (index % 5))} HTTP/1.1\r\nHost: x\r\n\r\n`,
        ),
      ),
  ],
  [
    HTTP,
    'invalid requests: garbage, two lengths, a length and chunks, a bad chunk, a bare line feed, no host',
    '400 `invalid_request`, then the connection is closed',
    [60, 6],
    ['400 invalid_request'],
    (index) =>
      exchange(
        Buffer.from(
          [
            'NONSENSE\r\n\r\n',
            'POST /runs HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
            'POST /runs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
            `POST /runs HTTP/1.1\r\nHost: x\r\n${JSON_BODY}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
            'GET /healthz HTTP/1.1\nHost: x\n\n',
            'GET /healthz HTTP/1.1\r\n\r\n',
          ][index % 6] ?? '',
        ),
      ),
  ],
];

describe('a client', () => {
  it.for(CASES)('%s: %s', async ([area, scenario, expected, [long, short], outcomes, act], context) => {
    const target = area === SLOW ? impatient : own;
    const { service } = target;
    const before = (await listDatasets(service.url)).length;
    const found: string[] = [];
    const tries = times(long, short);
    for (let first = 0; first < tries; first += 20) {
      const batch = Array.from({ length: Math.min(20, tries - first) }, (_, index) => act(first + index));
      found.push(...(await Promise.all(batch)));
    }
    for (const [index, outcome] of found.entries()) expect(outcomes, `try ${index}`).toContain(outcome);

    const stored = await listDatasets(service.url);
    expect(stored.length - before).toBe(found.filter((outcome) => outcome === '201').length);
    for (const dataset of stored.slice(0, stored.length - before)) {
      expect(await verifyDataset(service.url, dataset)).toEqual([]);
      expect(dataset.name).not.toMatch(/[\x00-\x1f\x7f/\\]/);
      const { status } = await ask(`${service.url}/datasets/${dataset.id}/export`);
      expect(status).toBe(200);
    }
    await expect.poll(() => service.stagedFiles()).toEqual([]);
    await expect.poll(() => metricOf(service.url, 'svc_http_requests_in_progress')).toBe(1);
    expect(await target.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);
    expect(service.log().filter(({ event }) => event === 'error.internal')).toEqual([]);
    report(context, { area, scenario, expected, runs: found.length, observed: tally(found) });
  });

  it('that sends ten thousand methods and paths adds no series of metrics', async (context) => {
    const METHODS = [
      'GET',
      'POST',
      'PUT',
      'DELETE',
      'PROPFIND',
      'PURGE',
      'REPORT',
      'M-SEARCH',
      'LINK',
      'HEAD',
    ];
    const seriesOf = async (): Promise<string[]> =>
      (await ask(`${service.url}/metrics`)).text.match(/^(?!nodejs_(?:active|gc))[a-z].*(?= )/gm) ?? [];
    let state = 20_240_520;
    const word = (): string => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state.toString(36);
    };
    const PIPELINED = 10;
    const sendPipelined = async (which: number): Promise<void> => {
      const connection = await openConnection(service.url);
      const requests = Array.from({ length: PIPELINED }, (_, index) => {
        const path = [`/${word()}`, `/datasets/${word()}`, `/runs/${word()}/${word()}`, `/%${word()}`][
          index % 4
        ];
        const last = index === PIPELINED - 1 ? 'Connection: close\r\n' : '';
        return `${METHODS[(index + which) % METHODS.length]} ${path} HTTP/1.1\r\nHost: x\r\n${last}\r\n`;
      });
      connection.send(requests.join(''));
      await connection.ended;
    };
    const send = async (count: number): Promise<void> => {
      const connections = 20;
      for (let sent = 0; sent < count; sent += connections * PIPELINED) {
        await Promise.all(Array.from({ length: connections }, (_, which) => sendPipelined(which)));
      }
    };
    const requests = times(10_000, 2_000);
    await send(times(2000, 400));
    await seriesOf(); // The first answer of /metrics adds its own series.
    const before = await seriesOf();
    const requestsBefore = await metricOf(service.url, 'svc_http_requests_total');
    await send(requests);
    const sent = (await metricOf(service.url, 'svc_http_requests_total')) - requestsBefore;
    expect(sent).toBeGreaterThanOrEqual(requests);
    const after = await seriesOf();
    expect(after).toEqual(before);
    report(context, {
      area: HTTP,
      scenario: 'requests with random methods and paths',
      expected: 'the number of series in `/metrics` stays the same',
      runs: requests,
      observed: { [`series before, ${after.length} after`]: before.length },
    });
  });
});
