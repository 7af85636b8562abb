import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConnection } from '../../../api/test/raw-connection.ts';
import { report, tally } from './report.ts';
import { runService, type ServiceProcess } from './run-service.ts';
import { samplePackage } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';
import { listDatasets } from './stored-datasets.ts';

const AREA = 'Attacks';
const UUID = '00000000-0000-4000-8000-000000000000';

let own: OwnService;
let service: ServiceProcess;
let port: string;
beforeAll(async () => {
  // as an operator has it who sets nothing: no keys, no names
  own = await startService({ SVC_ALLOWED_HOSTS: '' }, 'standalone');
  service = own.service;
  port = new URL(service.url).port;
});
afterAll(() => own[Symbol.asyncDispose]());

/** Sends a request as bytes and returns its outcome: the status, with the code of an error. */
async function send(line: string, headers: readonly string[], body: string | Buffer = ''): Promise<string> {
  using connection = await openConnection(service.url);
  const length = line.startsWith('GET') ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  connection.send(`${[line, ...headers, ...length, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  connection.send(body);
  const answer = await connection.ended;
  const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'no answer';
  const code = Number(status) < 400 ? undefined : /"code":"(\w+)"/.exec(answer)?.[1];
  return code === undefined ? status : `${status} ${code}`;
}

/** What a page asks for that has become same-origin: every kind of read and change, the probes and the documents. */
const REQUESTS: readonly (readonly [line: string, type?: string, body?: string])[] = [
  ['GET /datasets'],
  ['GET /healthz'],
  ['GET /readyz'],
  ['GET /metrics'],
  ['GET /docs'],
  ['GET /openapi.json'],
  ['GET /nothing'],
  [`GET /datasets/${UUID}/export`],
  ['PATCH /settings', 'application/json', '{"cancellation_check_interval_ms":1234}'],
  [
    'POST /runs',
    'application/json',
    `{"dataset_id":"${UUID}","config":{"provider":{"type":"echo"},"allow_unscored":true}}`,
  ],
  [`DELETE /datasets/${UUID}`],
];
const asPage = (host: string): Promise<string[]> =>
  Promise.all(
    REQUESTS.map(([line, type, body]) =>
      send(
        `${line} HTTP/1.1`,
        [`Host: ${host}`, `Origin: http://${host}`, ...(type === undefined ? [] : [`Content-Type: ${type}`])],
        body,
      ),
    ),
  );

describe('DNS rebinding', () => {
  it('an unknown Host is refused on every path', async (context) => {
    const foreign = [
      `evil.example:${port}`,
      'evil.example',
      `localhost.evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `192.0.2.1:${port}`,
      `[::2]:${port}`,
      `2130706433:${port}`,
      `127.1:${port}`,
      `0:${port}`,
    ];
    const outcomes: string[] = [];
    for (const host of foreign) outcomes.push(...(await asPage(host)));
    expect(tally(outcomes)).toEqual({ '421 misdirected_request': outcomes.length });
    report(context, {
      area: AREA,
      scenario:
        'a page whose name resolves to 127.0.0.1 (DNS rebinding) lists, exports, changes, starts runs and deletes; probes, `/metrics` and `/docs` too',
      expected: '421 `misdirected_request` for every request',
      runs: outcomes.length,
      observed: tally(outcomes),
    });
  });

  it('an invalid or duplicate Host is not valid HTTP', async (context) => {
    const hosts = [
      [`Host: a@127.0.0.1:${port}`],
      ['Host: ../../x'],
      [`Host: 127.0.0.1:${port}x`],
      [`Host: [::1:${port}`],
      [`Host: 127.0.0.1:${port}, 127.0.0.1:${port}`],
      [`Host: 127.0.0.1:${port}`, `Host: 127.0.0.1:${port}`],
      [`Host: 127.0.0.1:${port}`, 'Host: evil.example'],
      ['Host: evil.example', `Host: 127.0.0.1:${port}`],
      [],
    ];
    const outcomes: string[] = [];
    for (const headers of hosts) {
      for (const line of ['GET /datasets', 'GET /healthz', 'GET /docs'])
        outcomes.push(await send(`${line} HTTP/1.1`, headers));
    }
    expect(tally(outcomes)).toEqual({ '400 invalid_request': outcomes.length });
    report(context, {
      area: AREA,
      scenario: 'two `Host` headers, none, or an invalid one',
      expected: '400 `invalid_request` (RFC 9112 section 3.2)',
      runs: outcomes.length,
      observed: tally(outcomes),
    });
  });

  it('an absolute target names its host as well as the header', async () => {
    const ours = `127.0.0.1:${port}`;
    expect(await send(`GET http://${ours}/datasets HTTP/1.1`, [`Host: ${ours}`])).toBe('200');
    expect(await send(`GET http://evil.example/datasets HTTP/1.1`, [`Host: ${ours}`])).toBe(
      '421 misdirected_request',
    );
    expect(await send(`GET http://${ours}/datasets HTTP/1.1`, ['Host: evil.example'])).toBe(
      '421 misdirected_request',
    );
    expect(await send('GET /datasets HTTP/1.0', [])).toBe('421 misdirected_request');
  });

  it('every spelling of the service’s address is accepted', async () => {
    for (const host of [
      '127.0.0.1',
      'localhost',
      'LocalHost',
      'localhost.',
      '127.1.2.3',
      '[::1]',
      '[0:0:0:0:0:0:0:1]',
    ])
      expect([host, await send('GET /datasets HTTP/1.1', [`Host: ${host}:${port}`])]).toEqual([host, '200']);
  });
});

const FORM_HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n';
const form = (): Buffer =>
  Buffer.concat([Buffer.from(FORM_HEAD), Buffer.from(samplePackage(1)), Buffer.from('\r\n--b--\r\n')]);

describe('requests of foreign pages', () => {
  it('change nothing, and their body is not read', async (context) => {
    const host = `Host: 127.0.0.1:${port}`;
    const multipart = 'Content-Type: multipart/form-data; boundary=b';
    const foreign = [
      ['Origin: https://evil.example', 'Sec-Fetch-Site: cross-site'],
      ['Origin: https://evil.example'],
      ['Sec-Fetch-Site: cross-site'],
      ['Sec-Fetch-Site: same-site'],
      ['Origin: null'],
      [`Origin: https://127.0.0.1:${port}`],
      ['Origin: http://127.0.0.1:1'],
      [`Origin: http://localhost:${port}`],
      [`Origin: http://127.0.0.1:${port}`, 'Sec-Fetch-Site: cross-site'],
      [`Origin: http://127.0.0.1:${port}, https://evil.example`],
      ['Origin: '],
    ];
    const outcomes: string[] = [];
    for (const headers of foreign) {
      outcomes.push(await send('POST /datasets/upload HTTP/1.1', [host, multipart, ...headers], form()));
      outcomes.push(await send(`DELETE /datasets/${UUID} HTTP/1.1`, [host, ...headers]));
      outcomes.push(await send('POST /nothing HTTP/1.1', [host, ...headers]));
    }
    expect(tally(outcomes)).toEqual({ '403 cross_origin': outcomes.length });
    expect(await listDatasets(service.url)).toEqual([]);

    // refused on its head alone
    using connection = await openConnection(service.url);
    connection.send(
      `POST /datasets/upload HTTP/1.1\r\n${host}\r\n${multipart}\r\nOrigin: https://evil.example\r\nContent-Length: 1000000\r\n\r\n`,
    );
    await connection.until(/^HTTP\/1\.1 403 [\s\S]*"code":"cross_origin"/);
    await expect.poll(() => service.stagedFiles()).toEqual([]);

    // our own pages, and programs
    for (const headers of [
      [`Origin: http://127.0.0.1:${port}`, 'Sec-Fetch-Site: same-origin'],
      ['Sec-Fetch-Site: none'],
      [],
    ])
      expect(await send('POST /datasets/upload HTTP/1.1', [host, multipart, ...headers], form())).toBe('201');
    report(context, {
      area: AREA,
      scenario: 'a foreign page uploads by a simple request, or sends any other change',
      expected: '403 `cross_origin` before the body is read; nothing is stored',
      runs: outcomes.length + 1,
      observed: { ...tally(outcomes), '403 cross_origin': outcomes.length + 1 },
    });
  });
});

it('all origins without keys are a configuration error', async (context) => {
  const started = runService({
    app: 'api',
    dataDir: '/nonexistent',
    env: { SVC_CORS_ORIGINS: '*', DATABASE_URL: 'postgresql://127.0.0.1:1/x' },
  });
  await expect(started).rejects.toThrow(/SVC_CORS_ORIGINS/);
  report(context, {
    area: AREA,
    scenario: '`SVC_CORS_ORIGINS=*` without keys',
    expected: 'refuses to start and gives the reason',
    runs: 1,
    observed: { 'as expected': 1 },
  });
});
