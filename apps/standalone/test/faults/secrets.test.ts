import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../../packages/hub-client/test/fake-hub.ts';
import { buildZip } from '../../../../packages/pkg-format/test/build-zip.ts';
import { queryDatabase } from '../../../../packages/service/test/store/query-database.ts';
import { times } from '../../../../tools/vitest/long.ts';
import { openConnection } from '../../../api/test/raw-connection.ts';
import { report } from './report.ts';
import type { ServiceProcess } from './run-service.ts';
import { uploadForm } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask } from './stored-datasets.ts';

/** Secrets that may appear nowhere except where they were configured. */
const KEYS = {
  viewer: 'PLANTED-viewer-key-1',
  editor: 'PLANTED-editor-key-2',
  admin: 'PLANTED-admin-key-3',
  metrics: 'PLANTED-metrics-key-4',
  job: 'PLANTED-job-key-that-is-long-enough-5',
  configuredHub: 'hf_PLANTEDconfiguredhubtoken6',
  requestHub: 'hf_PLANTEDrequesthubtoken7',
  provider: 'PLANTED-provider-key-8',
  databasePassword: 'PLANTED-database-password-9',
  wrongKey: 'PLANTED-wrong-key-10',
  cookie: 'PLANTED-cookie-11',
} as const;
/** These are data: they belong into the database and exports, and nowhere else. */
const DATA = {
  prompt: 'PLANTED-prompt-12',
  answer: 'PLANTED-answer-13',
  line: 'PLANTED-broken-line-14',
  body: 'PLANTED-body-15',
} as const;

let cleanUp: AsyncDisposableStack;
let hub: FakeHub;
let own: OwnService;
let service: ServiceProcess;
let providerUrl: string;
/** what the service told its clients, other than datasets */
const told: string[] = [];
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  hub = await startFakeHub();
  cleanUp.defer(() => hub.close());
  for (const token of [KEYS.configuredHub, KEYS.requestHub]) hub.tokens.add(token);
  hub.add({
    id: 'org/gated',
    access: 'gated',
    readers: [KEYS.requestHub],
    files: { 'train.jsonl': '{"q":"x"}\n' },
  });
  // a provider that fails, and repeats in its error what it was sent
  const provider = createServer((request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `bad key ${request.headers.authorization}` } }));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  cleanUp.defer(() => void provider.close());
  providerUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  own = cleanUp.use(
    await startService(
      {
        SVC_API_KEYS: `viewer:${KEYS.viewer},editor:${KEYS.editor},admin:${KEYS.admin}`,
        SVC_METRICS_KEY: KEYS.metrics,
        SVC_JOB_KEY: KEYS.job,
        HUB_ENDPOINT: hub.endpoint,
        HUB_TOKEN: KEYS.configuredHub,
        SVC_PROVIDER_PLANTED: KEYS.provider,
        SVC_PROVIDER_PLANTED_ORIGINS: new URL(providerUrl).origin,
        SVC_LOG_LEVEL: 'debug',
      },
      'standalone',
      async (url) => {
        const role = `planted_${randomUUID().slice(0, 8)}`;
        await queryDatabase(url, `CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD '${KEYS.databasePassword}'`);
        const withPassword = new URL(url);
        [withPassword.username, withPassword.password] = [role, KEYS.databasePassword];
        return withPassword.href;
      },
    ),
  );
  service = own.service;
});
afterAll(() => cleanUp.disposeAsync());

const as = (key: string): Record<string, string> => ({
  Authorization: `Bearer ${key}`,
  Cookie: `session=${KEYS.cookie}`,
});
// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
async function say(path: string, init: RequestInit = {}, key: string = KEYS.admin): Promise<any> {
  const answer = await ask(service.url + path, { ...init, headers: { ...as(key), ...init.headers } });
  told.push(answer.text, JSON.stringify([...answer.headers]));
  return answer;
}
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  say(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const zip = (line: string): Uint8Array<ArrayBuffer> =>
  buildZip({ entries: [{ name: 'sections/a.jsonl', content: line }] }) as Uint8Array<ArrayBuffer>;

/** Every value of every table, as text. */
async function dump(): Promise<string> {
  const tables = await own.query(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    for (const { text } of await own.query(`SELECT t::text AS text FROM ${name} t`)) texts.push(text);
    // what is kept as bytes, as the text that it may be
    for (const { text } of await own.query(`SELECT to_jsonb(t)::text AS text FROM ${name} t`))
      texts.push(text);
  }
  const hex = /\\\\?x([0-9a-f]{20,})/g;
  return texts
    .map(
      (text) =>
        text +
        [...text.matchAll(hex)].map(([, hexed]) => Buffer.from(hexed ?? '', 'hex').toString('latin1')).join(),
    )
    .join('\n');
}

const found = (where: string, text: string, secrets: Readonly<Record<string, string>>): string[] =>
  Object.entries(secrets)
    .filter(([, secret]) => text.includes(secret) || text.includes(Buffer.from(secret).toString('base64')))
    .map(([name]) => `${name} in ${where}`);

describe('planted secrets', () => {
  it('are in no log line, error, metric, row or file that they do not belong to', async (context) => {
    const item = JSON.stringify({ id: 1, inputs: { prompt: DATA.prompt }, answer: DATA.answer });
    const stored = await say('/datasets/upload', { method: 'POST', body: uploadForm(zip(item), 'planted') });
    expect(stored.status).toBe(201);
    expect(
      (await say('/datasets/upload', { method: 'POST', body: uploadForm(zip(`{"a":${DATA.line}}`), 'x') }))
        .status,
    ).toBe(400);
    // wrong and missing keys, keys where none belongs
    for (const path of ['/datasets', `/datasets?q=${KEYS.viewer}`, `/datasets/${KEYS.editor}`, '/metrics']) {
      await say(path, {}, KEYS.wrongKey);
      await say(path, {}, KEYS.viewer);
    }
    expect((await say(`/datasets/${stored.body.id}`, { method: 'DELETE' }, KEYS.viewer)).status).toBe(403);
    await say(`/datasets/${stored.body.id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: `{"name":"${DATA.body}`,
    });
    // the hub: good, refused, as a job
    const config = { path: 'org/gated', token: KEYS.requestHub };
    const mapping = { prompt_column: 'q' };
    expect((await post('/datasets/hub/preview', config)).status).toBe(200);
    expect((await post('/datasets/hub/import', { name: 'g', config, mapping })).status).toBe(201);
    expect((await post('/datasets/hub/preview', { path: 'org/none', token: KEYS.requestHub })).status).toBe(
      404,
    );
    expect((await post('/datasets/hub/import', { name: 'g', config, mapping: {} })).status).toBe(400);
    const job = await post(
      '/datasets/hub/import',
      { name: 'g', config, mapping },
      { Prefer: 'respond-async' },
    );
    expect(job.status).toBe(202);
    await expect.poll(async () => (await say(`/jobs/${job.body.id}`)).body.status).toBe('succeeded');
    // a provider that repeats its key
    const provider = {
      type: 'openai_compatible',
      base_url: providerUrl,
      model: 'm',
      api_key_env: 'SVC_PROVIDER_PLANTED',
    };
    const run = await post('/runs', {
      dataset_id: stored.body.id,
      config: { provider, allow_unscored: true },
    });
    expect(run.status).toBe(202);
    await expect
      .poll(async () => (await say(`/runs/${run.body.id}`)).body.status)
      .toMatch(/^(?:completed|failed)$/);
    const results = (await ask(`${service.url}/runs/${run.body.id}/results`, { headers: as(KEYS.admin) }))
      .text;
    const metrics = (await ask(`${service.url}/metrics`, { headers: as(KEYS.metrics) })).text;
    expect(metrics).toContain('svc_http_requests_total');
    const exports = await Promise.all(
      ['/export', `/export?run_id=${run.body.id}&allow_incomplete=true`, '/items.jsonl', '/items'].map(
        async (path) =>
          (await ask(`${service.url}/datasets/${stored.body.id}${path}`, { headers: as(KEYS.admin) })).text,
      ),
    );
    const rows = await dump();

    const log = service.lines.join('\n') + service.stderr();
    expect([
      ...found('a log line', log, { ...KEYS, ...DATA }),
      ...found('metrics', metrics, { ...KEYS, ...DATA }),
      // what is wrong with a line or a body may be quoted to whom it belongs; a key never is
      ...found('an answer', told.join('\n'), KEYS),
      ...found('a result', results, KEYS),
      ...found('an export', exports.join('\n'), KEYS),
      ...found('the database', rows, KEYS),
    ]).toEqual([]);
    // they can be found where they belong
    expect(found('the database', rows, { prompt: DATA.prompt })).toHaveLength(1);
    expect(exports[2]).toContain(DATA.prompt);
    await expect.poll(() => service.stagedFiles()).toEqual([]);
    const secrets = Object.keys({ ...KEYS, ...DATA }).length;
    report(context, {
      area: 'Secrets and logs',
      scenario:
        'keys, tokens, a password, a cookie, prompts and answers in configuration, headers, bodies, paths, queries and archives',
      expected:
        'no key or token in a log line, response, metric, export, row or staging file; no prompt or answer in a log line or metric',
      runs: secrets,
      observed: { 'found nowhere else': secrets },
    });
  });

  it('or not, hostile names leave each log line one line of JSON', async (context) => {
    const NAMES: readonly string[] = [
      'tab\ttab',
      'esc\x1b[31mred',
      'alert\x07',
      '"quoted"',
      "'); DROP TABLE items; --",
      '{"event":"server.stop"}',
      'back\\slash\\u0000',
      Buffer.from('line\u2028separator\u2029').toString('latin1'),
      Buffer.from([0xed, 0xa0, 0x80, 0xff, 0xfe, 0xc3, 0x28]).toString('latin1'),
      'x'.repeat(8000),
      '%0a%0d%00',
      '\x85\x9b',
    ];
    const before = service.lines.length;
    const tries = times(40, 2);
    let sent = 0;
    for (let round = 0; round < tries; round++) {
      for (const name of NAMES) {
        const visible = name.replaceAll(/[^\x21-\x7e]/g, '_');
        const form =
          `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${name}\r\n` +
          `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${name}\r\n--b--\r\n`;
        const key = `Authorization: Bearer ${KEYS.admin}\r\n`;
        const requests = [
          `GET /datasets HTTP/1.1\r\nHost: x\r\n${key}X-Request-ID: ${name}\r\nUser-Agent: ${name}\r\nReferer: ${name}\r\nConnection: close\r\n\r\n`,
          `GET /datasets HTTP/1.1\r\nHost: ${visible}\r\n${key}${visible.slice(0, 4000)}: x\r\nConnection: close\r\n\r\n`,
          `GET /${encodeURIComponent(name).slice(0, 8000)}?${encodeURIComponent(name).slice(0, 4000)} HTTP/1.1\r\nHost: x\r\n${key}Connection: close\r\n\r\n`,
          `GET /${name} HTTP/1.1\r\nHost: x\r\n${key}Connection: close\r\n\r\n`,
          `POST /datasets/upload HTTP/1.1\r\nHost: x\r\n${key}Content-Type: multipart/form-data; boundary=b\r\nIdempotency-Key: ${name}\r\nContent-Length: ${form.length}\r\nConnection: close\r\n\r\n${form}`,
        ];
        for (const request of requests) {
          using connection = await openConnection(service.url);
          connection.send(request);
          const answer = await connection.ended;
          expect(answer).toMatch(/^HTTP\/1\.1 (?:[24]\d\d) /);
          sent += 1;
        }
      }
    }
    await expect.poll(() => service.lines.length - before).toBeGreaterThanOrEqual(sent / 2);
    const KEY_ORDER = ['timestamp', 'level', 'service', 'event'];
    for (const line of service.lines) {
      expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/);
      const parsed = JSON.parse(line) as Record<string, unknown>;
      expect(Object.keys(parsed).slice(0, 4)).toEqual(KEY_ORDER);
      expect(parsed['service']).toBe('svc-standalone');
      expect(parsed['event']).not.toBe('server.stop');
    }
    expect(service.log().filter(({ event }) => event === 'error.internal')).toEqual([]);
    expect(found('a log line', service.lines.join('\n'), { ...KEYS, ...DATA })).toEqual([]);
    report(context, {
      area: 'Secrets and logs',
      scenario:
        'header, field, file and path names with control characters, separators, quotes, escapes, bytes that are not text, and of 8 kB',
      expected: 'a response; every log line is one valid line of JSON',
      runs: sent,
      observed: { 'answered, logged in order': sent },
    });
  });
});
