import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../../packages/hub-client/test/fake-hub.ts';
import { openConnection } from '../../../api/test/raw-connection.ts';
import { mutate, mutations } from './mutate-bytes.ts';
import { report, tally } from './report.ts';
import { metricOf, type ServiceProcess } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask, LEFTOVERS, NO_LEFTOVERS, outcomeOf, type ServiceResponse } from './stored-datasets.ts';

const HANG_MS = 5_000;
let hub: FakeHub;
let own: OwnService;
let api: ServiceProcess;
let dataset: string;
let run: string;
let job: string;
let victim: string;
let operations: { method: string; path: string }[];
beforeAll(async () => {
  hub = await startFakeHub();
  hub.add({ id: 'org/lines', files: { 'train.jsonl': '{"q":"a","n":1}\n{"q":"b","n":2}\n' } });
  own = await startService({ HUB_ENDPOINT: hub.endpoint });
  api = own.service;
  const stored = await ask(`${api.url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(samplePackage(5), 'target'),
  });
  dataset = stored.body.id;
  const deleted = await ask(`${api.url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(samplePackage(1), 'victim'),
  });
  victim = deleted.body.id;
  run = (
    await send('POST', '/runs', {
      dataset_id: dataset,
      config: { provider: { type: 'echo' }, allow_unscored: true },
    })
  ).body.id;
  const queued = await ask(`${api.url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(samplePackage(1), 'queued'),
    headers: { Prefer: 'respond-async' },
  });
  job = queued.body.id;
  const { body: document } = await ask(`${api.url}/openapi.json`);
  operations = Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
});
afterAll(async () => {
  await own[Symbol.asyncDispose]();
  await hub.close();
});

const send = (method: string, path: string, body: object): Promise<ServiceResponse> =>
  ask(api.url + path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Reads the head of a stream and its first chunk, then disconnects; reads an error completely. */
async function askForStart(url: string, init: RequestInit): Promise<ServiceResponse> {
  // A connection that the server closes because it is idle takes a request with it that is sent just then.
  const response = await fetch(url, init).catch(() => fetch(url, init));
  const { status, headers } = response;
  if (headers.get('content-type') !== 'text/event-stream') {
    const text = await response.text();
    const body = JSON.parse(text);
    return { status, code: body.code, headers, body, text };
  }
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return { status, code: '', headers, body: null, text: Buffer.from(value ?? []).toString() };
}

/** An answer is one of those that are described, and says what is wrong as every error does. */
function expectInOrder(answer: ServiceResponse): void {
  expect(answer.status).not.toBe(0);
  expect(answer.status).not.toBe(500);
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  if (answer.status < 400) return;
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.body).toMatchObject({
    status: answer.status,
    code: expect.stringMatching(/^[a-z_]+$/),
    detail: expect.any(String),
    request_id: answer.headers.get('x-request-id'),
  });
}

/** How many rows there are of what requests can make. */
async function rows(): Promise<Record<string, number>> {
  const count = async (path: string): Promise<number> =>
    (await ask(`${api.url}${path}?limit=1`)).body.meta.total_items;
  return { datasets: await count('/datasets'), runs: await count('/runs') };
}

async function expectUnharmed(before: Record<string, number>, made: Record<string, number>): Promise<void> {
  const after = await rows();
  for (const [name, count] of Object.entries(before)) {
    expect([name, after[name]]).toEqual([name, count + (made[name] ?? 0)]);
  }
  expect(await own.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);
  await expect.poll(() => api.stagedFiles()).toEqual([]);
  expect(api.log().filter(({ event }) => event === 'error.internal')).toEqual([]);
  expect((await ask(`${api.url}/healthz`)).status).toBe(200);
}

/** Requests with a JSON body that are in order. */
const good = (): readonly { method: string; path: string; body: object }[] => [
  {
    method: 'POST',
    path: '/datasets/hub/preview',
    body: { path: 'org/lines', split: 'train[:50%]', limit: 2, revision: 'main', token: null },
  },
  {
    method: 'POST',
    path: '/datasets/hub/import',
    body: {
      name: 'fuzzed',
      description: 'é',
      config: { path: 'org/lines', split: 'train' },
      mapping: { prompt_column: 'q', meta_columns: ['n'], default_type: 'freeform' },
    },
  },
  { method: 'PATCH', path: `/datasets/${dataset}`, body: { name: 'n', description: null, notes: 'x' } },
  {
    method: 'POST',
    path: '/runs',
    body: {
      dataset_id: dataset,
      name: 'r',
      config: {
        provider: { type: 'item_field', pointer: '/answer' },
        allow_unscored: true,
        concurrency: 2,
        repetitions: 1,
      },
    },
  },
  { method: 'POST', path: `/runs/${run}/cancel`, body: {} },
  {
    method: 'PATCH',
    path: '/settings',
    body: { cancellation_check_interval_ms: 2000 },
  },
  {
    method: 'POST',
    path: '/telemetry/onboarding',
    body: {
      consent: true,
      lifecycle: 'started',
      route: '/a',
      time_zone: 'Europe/Vienna',
      tutorial_version: '1',
      anonymous_session_id: '00000000-0000-4000-8000-000000000000',
    },
  },
];

const JSON_WORDS = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  'null',
  'true',
  '-',
  '0',
  '1e999',
  '\\u0000',
  '\\ud800',
  '\\uD83D\\uDE00',
  '\x00',
  '\xff',
  '\xc3\x28',
  '"__proto__":',
  '"constructor":',
  '[[[[[[[[',
  '"split":"train[',
  '%',
  '../',
  '\n',
  '12345678901234567890',
];

function creates(path: string, answer: ServiceResponse): Record<string, number> {
  if (answer.status === 201) return { datasets: 1 };
  if (answer.status === 204 && path === `/datasets/${victim}`) return { datasets: -1 };
  return answer.status === 202 && path === '/runs' ? { runs: 1 } : {};
}
const add = (sum: Record<string, number>, more: Record<string, number>): void => {
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
};

/** A request to any endpoint: its number, two path parameters, query, headers, body. */
type Request = [number, string[], [string, string][], [string, string][], string];

describe('mutated requests', () => {
  it('with JSON bodies', async (context) => {
    const requests = good();
    const before = await rows();
    const made: Record<string, number> = {};
    const outcomes: string[] = [];
    const raw = fc
      .record({ which: fc.nat(requests.length - 1), changes: mutations(JSON_WORDS) })
      .map(({ which, changes }) => {
        const request = requests[which] as (typeof requests)[number];
        return { ...request, bytes: mutate(Buffer.from(JSON.stringify(request.body)), changes) };
      });
    const replaced = fc
      .record({
        which: fc.nat(requests.length - 1),
        key: fc.nat(8),
        value: fc.jsonValue({ maxDepth: 3 }),
        deep: fc.boolean(),
      })
      .map(({ which, key, value, deep }) => {
        const request = requests[which] as (typeof requests)[number];
        const body = structuredClone(request.body) as Record<string, unknown>;
        const inner = Object.values(body).find((member) => typeof member === 'object' && member !== null);
        const target = deep && inner !== undefined ? (inner as Record<string, unknown>) : body;
        const keys = Object.keys(target);
        target[keys[key % (keys.length + 1)] ?? 'unknown'] = value;
        return { ...request, bytes: new Uint8Array(Buffer.from(JSON.stringify(body))) };
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(raw, replaced), async ({ method, path, bytes }) => {
        const answer = await ask(api.url + path, {
          method,
          headers: { 'Content-Type': 'application/json' },
          body: bytes,
          signal: AbortSignal.timeout(HANG_MS),
        });
        outcomes.push(outcomeOf(answer));
        add(made, creates(path, answer));
        expectInOrder(answer);
      }),
      { numRuns: 5000, seed: 20_240_511, endOnFailure: true },
    );
    await expectUnharmed(before, made);
    report(context, {
      area: 'Random input',
      scenario: 'JSON bodies of every endpoint that takes one, with random bytes or values changed',
      expected:
        'success, or an error that names the cause; never a 500, a crash, a hang over 5 s or a leftover row',
      runs: outcomes.length,
      observed: tally(outcomes),
    });
  }, 300_000);

  it('with forms', async (context) => {
    const before = await rows();
    const made: Record<string, number> = {};
    const outcomes: string[] = [];
    const archive = samplePackage(2);
    const form = Buffer.concat([
      Buffer.from(
        '--b0undary\r\nContent-Disposition: form-data; name="name"\r\n\r\nA näme\r\n' +
          '--b0undary\r\nContent-Disposition: form-data; name="description"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nd\r\n' +
          '--b0undary\r\nContent-Disposition: form-data; name="file"; filename="ä.zip"\r\nContent-Type: application/zip\r\n\r\n',
      ),
      archive,
      Buffer.from('\r\n--b0undary--\r\n'),
    ]);
    const types = [
      'multipart/form-data; boundary=b0undary',
      'multipart/form-data; boundary="b0undary"',
      'multipart/form-data; boundary=b0undary; charset=x',
      'multipart/form-data; boundary=other',
      'multipart/form-data; boundary=',
      'multipart/form-data',
      `multipart/form-data; boundary=${'x'.repeat(3000)}`,
    ];
    const words = [
      '--b0undary',
      '--b0undary--',
      '\r\n',
      '\r\n\r\n',
      'name=',
      'filename=',
      "filename*=UTF-8''%00",
      '"',
      ';',
      'charset=utf-16',
      'charset=nonsense',
      'Content-Disposition: ',
      'Content-Transfer-Encoding: base64',
      '\x00',
      '\xff',
      ':',
      '../',
    ];
    await fc.assert(
      fc.asyncProperty(
        mutations(words),
        fc.oneof(
          { weight: 6, arbitrary: fc.constant(types[0] as string) },
          { weight: 1, arbitrary: fc.constantFrom(...types) },
        ),
        async (changes, type) => {
          const answer = await ask(`${api.url}/datasets/upload`, {
            method: 'POST',
            headers: { 'Content-Type': type },
            body: mutate(form, changes),
            signal: AbortSignal.timeout(HANG_MS),
          });
          outcomes.push(outcomeOf(answer));
          add(made, creates('/datasets/upload', answer));
          expectInOrder(answer);
        },
      ),
      { numRuns: 4000, seed: 20_240_512, endOnFailure: true },
    );
    await expectUnharmed(before, made);
    report(context, {
      area: 'Random input',
      scenario: 'upload forms with random bytes changed, under seven content types',
      expected: '201, or an error; never a 500, a crash, a hang over 5 s or a leftover row',
      runs: outcomes.length,
      observed: tally(outcomes),
    });
  }, 300_000);

  it('with any path, query, header and body on any endpoint', async (context) => {
    const before = await rows();
    const made: Record<string, number> = {};
    const outcomes: string[] = [];
    const watched = new Set<string>();
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('', '0', '-1', 'x', dataset, run, job, '\u0000', '%', 'null'),
    );
    const name = fc.oneof(
      fc.constantFrom(
        'limit',
        'cursor',
        'name',
        'q',
        'source',
        'version_hash',
        'section',
        'type',
        'change',
        'run_id',
        'dry_run',
        'dataset_id',
        'status',
      ),
      fc.string({ maxLength: 5 }),
    );
    const header = fc.oneof(
      fc.constantFrom(
        'prefer',
        'idempotency-key',
        'if-none-match',
        'accept',
        'range',
        'content-encoding',
        'origin',
        'expect',
      ),
      fc
        .stringMatching(/^[a-z][a-z-]{0,8}$/)
        .filter(
          (value) =>
            !/^(?:host|connection|transfer-encoding|content-length|upgrade|keep-alive|te|trailer|content-type)$/.test(
              value,
            ),
        ),
    );
    const events = ['/runs/{id}/events', '/jobs/{id}/events'];
    const watching = events.map((path, index) => {
      const which = operations.findIndex((operation) => operation.path === path);
      return [which, [index === 0 ? run : job, ''], [], [], ''] as Request;
    });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(operations.length - 1),
        fc.array(text, { minLength: 2, maxLength: 2 }),
        fc.array(fc.tuple(name, text), { maxLength: 3 }),
        fc.array(fc.tuple(header, fc.stringMatching(/^[\x21-\x7e]{0,30}$/)), { maxLength: 3 }),
        fc.string({ maxLength: 30 }),
        async (which, parameters, query, headers, body) => {
          const { method, path } = operations[which] as (typeof operations)[number];
          let at = 0;
          const encoded = (value: string): string => encodeURIComponent(value.toWellFormed());
          const id = (): string => {
            const parameter = parameters[at++] ?? '';
            // what the others ask for stays
            return method === 'DELETE' && parameter === dataset ? victim : parameter;
          };
          const filled = path.replaceAll(/\{\w+\}/g, () => encoded(id()) || '%20');
          const search = query.map(([key, value]) => `${encoded(key)}=${encoded(value)}`).join('&');
          const send = path.endsWith('/events') ? askForStart : ask;
          const answer = await send(`${api.url}${filled}?${search}`, {
            method,
            headers: [
              ...headers.filter(([key]) => key !== 'expect'),
              ['content-type', 'application/json'],
            ] as [string, string][],
            ...(method === 'GET' ? {} : { body }),
            signal: AbortSignal.timeout(HANG_MS),
          });
          outcomes.push(`${Math.floor(answer.status / 100)}xx`);
          if (answer.status < 400 && path.endsWith('/events')) watched.add(path);
          add(made, creates(filled, answer));
          if (answer.status === 503 && path === '/readyz') return;
          expectInOrder(answer);
        },
      ),
      { numRuns: 4000, seed: 20_240_513, endOnFailure: true, examples: watching },
    );
    // event streams of idle work stay open until the client disconnects
    expect([...watched].sort()).toEqual(events.sort());
    await expect.poll(() => metricOf(api.url, 'svc_http_requests_in_progress')).toBe(1);
    await expectUnharmed(before, made);
    report(context, {
      area: 'Random input',
      scenario: 'any path parameters, query, headers and body, on every endpoint of the OpenAPI document',
      expected:
        'success, or a client error; never a 500, a crash, a hang over 5 s or a leftover row; event streams are closed after their start',
      runs: outcomes.length,
      observed: tally(outcomes),
    });
  }, 300_000);

  it('with any bytes on the connection', async (context) => {
    const before = await rows();
    const outcomes: string[] = [];
    const request = Buffer.from(
      'POST /datasets/hub/preview HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\nConnection: close\r\n\r\n{"path":"org/lines"}',
    );
    const words = [
      '\r\n',
      '\n',
      '\r',
      ':',
      ' ',
      '\t',
      '\x00',
      '\xff',
      'HTTP/1.0',
      'HTTP/2.0',
      'Transfer-Encoding: chunked\r\n',
      'Content-Length: 5\r\n',
      'Upgrade: h2c\r\n',
      'GET ',
      'Expect: 100-continue\r\n',
      '0\r\n\r\n',
      '*',
      'http://h/',
    ];
    await fc.assert(
      fc.asyncProperty(mutations(words), async (changes) => {
        using connection = await openConnection(api.url);
        connection.send(mutate(request, changes));
        // so that a server that expects more bytes gets the end
        connection.socket.end();
        const late = Promise.withResolvers<string>();
        const timer = setTimeout(() => late.reject(new Error(`no end: ${connection.answer()}`)), HANG_MS);
        const answer = await Promise.race([connection.ended, late.promise]);
        clearTimeout(timer);
        const statuses = answer.match(/(?<=^|\n|\})HTTP\/1\.1 \d+/g) ?? [];
        outcomes.push(statuses[0]?.slice(9) ?? 'no answer');
        for (const status of statuses) expect(status).not.toBe('HTTP/1.1 500');
        expect((answer.match(/^x-request-id:/gim) ?? []).length).toBe(
          statuses.filter((status) => !status.endsWith(' 100')).length,
        );
      }),
      { numRuns: 3000, seed: 20_240_514, endOnFailure: true },
    );
    await expectUnharmed(before, {});
    report(context, {
      area: 'Random input',
      scenario: 'raw requests with random bytes changed',
      expected:
        'a response with a request id, or a closed connection; never a 500, a crash or a hang over 5 s',
      runs: outcomes.length,
      observed: tally(outcomes),
    });
  }, 300_000);
});
