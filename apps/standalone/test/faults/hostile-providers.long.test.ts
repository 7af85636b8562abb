import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { report, tally } from './report.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask, outcomeOf, type ServiceResponse } from './stored-datasets.ts';

const KEYS = { editor: 'editor-key-0123456789', provider: 'sk-provider-key-0123456789' } as const;
/** The content of pages of the internal network. */
const INTERNAL = 'INTERNAL-PAGE-TEXT';
const MIB = 1024 * 1024;

interface Listener {
  readonly port: number;
  /** the `Authorization` header of every request, or an empty text */
  readonly seen: string[];
}

let cleanUp: AsyncDisposableStack;
let own: OwnService;
let bound: Listener;
let other: Listener;
let datasetId: string;
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  bound = await listen(sendPage);
  other = await listen(sendPage);
  own = cleanUp.use(
    await startService(
      {
        SVC_API_KEYS: `editor:${KEYS.editor}`,
        SVC_PROVIDER_BOUND: KEYS.provider,
        SVC_PROVIDER_BOUND_ORIGINS: `http://127.0.0.1:${bound.port}`,
      },
      'standalone',
    ),
  );
  const stored = await say('/datasets/upload', { method: 'POST', body: uploadForm(samplePackage(1), 'one') });
  expect(outcomeOf(stored)).toBe('201');
  datasetId = stored.body.id;
});
afterAll(() => cleanUp.disposeAsync());

async function listen(answer: RequestListener): Promise<Listener> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization ?? '');
    request.resume().on('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

/** Pages that are not completions, by the first part of the path. */
const sendPage: RequestListener = (request, response) => {
  const page = request.url?.split('/')[1] ?? '';
  const status = Number(/^status-(\d+)$/.exec(page)?.[1] ?? 200);
  if (page === 'redirect') response.writeHead(302, { location: `http://127.0.0.1:${other.port}/text` }).end();
  else if (page === 'json') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: INTERNAL, code: INTERNAL } }));
  } else if (page === 'type') {
    response.writeHead(200, { 'content-type': `text/${INTERNAL}; charset=${INTERNAL}` }).end(INTERNAL);
  } else if (page === 'long') {
    response.writeHead(200, { 'content-type': 'text/html' });
    for (let sent = 0; sent < 9; sent++) response.write(Buffer.alloc(MIB, INTERNAL));
    response.end();
  } else response.writeHead(status, { 'content-type': 'text/html' }).end(`<p>${INTERNAL}</p>`);
};

const say = (path: string, init: RequestInit = {}): Promise<ServiceResponse> =>
  ask(own.service.url + path, {
    ...init,
    headers: { Authorization: `Bearer ${KEYS.editor}`, ...init.headers },
  });

const openAi = (baseUrl: string, more: object = {}): object => ({
  provider: { type: 'openai_compatible', base_url: baseUrl, model: 'm', ...more },
  max_retries: 0,
  timeout_ms: 5000,
});

const startRun = (config: object): Promise<ServiceResponse> =>
  say('/runs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ dataset_id: datasetId, config: { ...config, allow_unscored: true } }),
  });

interface RunOutcome {
  readonly code: string;
  readonly message: string;
  /** everything that the service tells of the run */
  readonly text: string;
}

/** Starts a run of one item and waits for its end. */
async function outcomeOfRun(config: object): Promise<RunOutcome> {
  const started = await startRun(config);
  if (started.status !== 202) return { code: outcomeOf(started), message: '', text: started.text };
  const path = `/runs/${started.body.id}`;
  await expect.poll(async () => (await say(path)).body?.status).toMatch(/^(?:completed|failed)$/);
  const [run, results] = await Promise.all([say(path), say(`${path}/results`)]);
  const error = run.body.error ?? results.body.data[0]?.error;
  return { code: error?.code ?? 'ok', message: error?.message ?? '', text: run.text + results.text };
}

/** Starts a built service that is expected to refuse its configuration. */
function startRefused(env: Readonly<Record<string, string>>): Promise<{ exitCode: number; stderr: string }> {
  const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [main],
      {
        timeout: 30_000,
        env: {
          PATH: process.env['PATH'],
          SVC_PORT: '0',
          // nothing listens there
          DATABASE_URL: 'postgresql://x:x@127.0.0.1:9/x',
          ...env,
        },
      },
      (_error, _stdout, stderr) => resolve({ exitCode: child.exitCode ?? -1, stderr }),
    );
  });
}

function reportSafety(context: TestContext, scenario: string, expected: string, outcomes: string[]): void {
  report(context, {
    area: 'Attacks',
    scenario,
    expected,
    runs: outcomes.length,
    observed: tally(outcomes),
  });
}

const KEY = 'sk-0123456789';

it('a key without origins, and origins without a key, refuse to start', async (context) => {
  const wrong: readonly [env: Record<string, string>, named: string[]][] = [
    [{ SVC_PROVIDER_X: KEY }, ['SVC_PROVIDER_X']],
    [
      { SVC_PROVIDER_ACM: KEY, SVC_PROVIDER_ACM_ORIGNS: 'https://acm.example' },
      ['SVC_PROVIDER_ACM', 'SVC_PROVIDER_ACM_ORIGNS'],
    ],
    [{ SVC_PROVIDER_X_ORIGINS: 'https://x.example' }, ['SVC_PROVIDER_X_ORIGINS']],
    [{ SVC_PROVIDER_X: KEY, SVC_PROVIDER_X_ORIGINS: '' }, ['SVC_PROVIDER_X']],
    [{ SVC_PROVIDER_X: KEY, SVC_PROVIDER_X_ORIGINS: 'x.example' }, ['SVC_PROVIDER_X_ORIGINS']],
  ];
  const outcomes: string[] = [];
  // the tests of the configuration read them all
  const runs = wrong.slice(0, times(wrong.length, 2));
  for (const [env, named] of runs) {
    const { exitCode, stderr } = await startRefused(env);
    for (const name of named) expect(stderr).toMatch(new RegExp(`^\\s*${name} `, 'm'));
    expect(stderr).not.toContain(KEY);
    outcomes.push(`exit code ${exitCode}`);
  }
  expect(tally(outcomes)).toEqual({ 'exit code 78': runs.length });
  reportSafety(
    context,
    'start with a key that has no origins, origins that have no key, and a typing error in either',
    'exit code 78, every invalid variable is named',
    outcomes,
  );
});

it('a bound key goes to no other origin', async (context) => {
  const other_ = await outcomeOfRun(
    openAi(`http://127.0.0.1:${other.port}/text`, { api_key_env: 'SVC_PROVIDER_BOUND' }),
  );
  const name = await outcomeOfRun(
    openAi(`http://localhost:${bound.port}/text`, { api_key_env: 'SVC_PROVIDER_BOUND' }),
  );
  expect([other_.code, name.code]).toEqual(['provider_unauthorized', 'provider_unauthorized']);
  expect([other.seen, bound.seen]).toEqual([[], []]);
  await outcomeOfRun(openAi(`http://127.0.0.1:${bound.port}/text`, { api_key_env: 'SVC_PROVIDER_BOUND' }));
  expect(bound.seen).toEqual([`Bearer ${KEYS.provider}`]);
  reportSafety(context, 'send a bound key to another origin', '`provider_unauthorized`, nothing is sent', [
    other_.code,
    name.code,
  ]);
});

it('names of variables that do not hold keys are refused', async (context) => {
  const outcomes: string[] = [];
  for (const name of ['SVC_PROVIDER_BOUND_ORIGINS', 'SVC_PROVIDER_ORIGINS', 'SVC_PROVIDER_ALLOWED_HOSTS']) {
    for (const part of ['provider', 'judge']) {
      const model = { base_url: `http://127.0.0.1:${other.port}/text`, model: 'm', api_key_env: name };
      const config =
        part === 'provider' ? openAi(model.base_url, model) : { provider: 'echo', judge: { ...model } };
      outcomes.push(outcomeOf(await startRun(config)));
    }
  }
  expect(tally(outcomes)).toEqual({ '400 invalid_request': 6 });
  expect(other.seen).toEqual([]);
  reportSafety(context, 'name a variable of origins as the key', '400 `invalid_request`', outcomes);
});

it('link-local destinations are refused in every spelling', async (context) => {
  const hosts = [
    '169.254.169.254',
    '169.254.0.1:8080',
    '169.254.169.254.',
    '0xa9fea9fe',
    '2852039166',
    '169.254.43518',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::169.254.169.254]',
    '[fe80::1]',
    '[febf::1]:11434',
    '[fd00:ec2::254]',
  ];
  const outcomes: string[] = [];
  for (const host of hosts) {
    outcomes.push(outcomeOf(await startRun(openAi(`http://${host}/latest`))));
    outcomes.push(
      outcomeOf(
        await startRun({ provider: 'echo', judge: { base_url: `https://${host}/latest`, model: 'm' } }),
      ),
    );
  }
  expect(tally(outcomes)).toEqual({ '400 invalid_request': 2 * hosts.length });
  reportSafety(
    context,
    'a link-local address or one of a metadata service, in 12 spellings, for the model and for the judge',
    '400 `invalid_request`',
    outcomes,
  );
});

/**
 * A mount namespace gives one process its own host names. That of root first: in a user namespace the socket of the
 * database may be out of reach.
 */
const unshare = ['-m', '-rm'].find((flags) => spawnSync('unshare', [flags, 'true']).status === 0);

it.skipIf(unshare === undefined)(
  'names that resolve to link-local addresses are refused',
  async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-hosts-'));
    cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
    const names = ['metadata.example', 'mapped.example', 'six.example', 'both.example'];
    await writeFile(
      join(folder, 'hosts'),
      [
        '127.0.0.1 localhost',
        '169.254.77.1 metadata.example',
        '::ffff:169.254.77.1 mapped.example',
        'fe80::1 six.example',
        '169.254.77.1 both.example',
        'fe80::1 both.example',
        '',
      ].join('\n'),
    );
    const previous = own;
    await using renamed = await startService(
      { SVC_API_KEYS: `editor:${KEYS.editor}` },
      'standalone',
      undefined,
      `exec unshare ${unshare} bash -c 'mount --bind ${folder}/hosts /etc/hosts && exec "$@"' bash "$@"`,
    );
    own = renamed;
    try {
      const stored = await say('/datasets/upload', {
        method: 'POST',
        body: uploadForm(samplePackage(1), 'one'),
      });
      const previousId = datasetId;
      datasetId = stored.body.id;
      const outcomes: string[] = [];
      for (const name of names) {
        const { code, message } = await outcomeOfRun(openAi(`http://${name}/latest`));
        expect(message).not.toMatch(/169|fe80/);
        outcomes.push(code);
      }
      datasetId = previousId;
      expect(tally(outcomes)).toEqual({ provider_forbidden: names.length });
      reportSafety(
        context,
        'a name that resolves to a link-local address',
        '`provider_forbidden`, no connection',
        outcomes,
      );
    } finally {
      own = previous;
    }
  },
);

it('no text of an internal page is readable', async (context) => {
  // The message of a JSON error is shown as the provider's words; nothing else of a response is.
  expect((await outcomeOfRun(openAi(`http://127.0.0.1:${other.port}/json`))).text).toContain(INTERNAL);
  const pages = [
    'text',
    'type',
    'long',
    ...[400, 401, 404, 422, 500, 503].map((status) => `status-${status}`),
  ];
  const outcomes: string[] = [];
  for (const page of pages) {
    const { code, text, message } = await outcomeOfRun(openAi(`http://127.0.0.1:${other.port}/${page}`));
    expect(code).toMatch(/^provider_/);
    expect(message).not.toBe('');
    outcomes.push(text.includes(INTERNAL) ? 'text readable' : 'status, type and length only');
  }
  expect(tally(outcomes)).toEqual({ 'status, type and length only': pages.length });
  reportSafety(
    context,
    'read a page of the internal network as the response of a model, other than the message of a JSON error',
    'status, type and length only',
    outcomes,
  );
});

it('a closed port and a port that speaks something else look the same', async (context) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const database = (await own.query('SELECT inet_server_port() AS port'))[0].port ?? 9;
  const found: string[] = [];
  for (const one of [9, port, database]) {
    const { code, message } = await outcomeOfRun(openAi(`http://127.0.0.1:${one}/v1`));
    found.push(`${code}: ${message}`);
  }
  expect(new Set(found).size).toBe(1);
  reportSafety(
    context,
    'distinguish a closed port from an open one that does not speak HTTP, including the database',
    'one sentence',
    found.map((text) => text.split(':')[0] ?? ''),
  );
});

it('a redirect is not followed, and other schemes and parts of URLs are refused', async (context) => {
  const before = other.seen.length;
  const redirect = await outcomeOfRun(openAi(`http://127.0.0.1:${bound.port}/redirect`));
  expect(redirect.code).toBe('provider_rejected');
  expect(other.seen).toHaveLength(before);
  const outcomes = [redirect.code];
  for (const url of [
    'file:///etc/passwd',
    'ftp://127.0.0.1/x',
    'http://user:password@127.0.0.1/x',
    'http://127.0.0.1/x?y=z',
    'http://127.0.0.1/x#y',
  ]) {
    const outcome = outcomeOf(await startRun(openAi(url)));
    expect(outcome).toBe('400 invalid_request');
    outcomes.push(outcome);
  }
  reportSafety(
    context,
    'a redirect, `file:`, `ftp:`, user-info, a query, a fragment',
    'refused, not followed',
    outcomes,
  );
});
