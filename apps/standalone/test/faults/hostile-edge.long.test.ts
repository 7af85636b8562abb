import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { openConnection, type RawConnection } from '../../../api/test/raw-connection.ts';
import { readNothing, storeLarge } from './limits/client-limits.ts';
import { report, tally } from './report.ts';
import { runService, type ServiceProcess } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask, outcomeOf, type ServiceResponse } from './stored-datasets.ts';

const AREA = 'Attacks';
const KEYS = {
  viewer: 'the-viewer-key-of-the-tests',
  other: 'another-viewer-key-of-the-tests',
  editor: 'the-editor-key-of-the-tests',
  otherEditor: 'another-editor-key-of-the-tests',
} as const;
const UPLOADS = 6;

let own: OwnService;
let service: ServiceProcess;
beforeAll(async () => {
  own = await startService({
    SVC_API_KEYS: `viewer:${KEYS.viewer},viewer:${KEYS.other},editor:${KEYS.editor},editor:${KEYS.otherEditor}`,
    SVC_MAX_CONCURRENT_UPLOADS: String(UPLOADS),
    SVC_IMPORT_WAIT_MS: '1000',
    SVC_SLOW_READER_TIMEOUT_MS: '4000',
  });
  service = own.service;
});
afterAll(() => own[Symbol.asyncDispose]());

const as = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}` });
const get = (path: string, key: string): Promise<ServiceResponse> =>
  ask(service.url + path, { headers: as(key) });

describe('requests', () => {
  it('get a complete sentence on how to send a key when they have none', async (context) => {
    const responses = await Promise.all(
      ['/datasets', '/metrics', '/nothing'].map((path) => ask(service.url + path)),
    );
    for (const { status, body } of responses) {
      expect([status, body.detail]).toEqual([
        401,
        'This needs a valid key in the Authorization header (scheme Bearer).',
      ]);
    }
    report(context, {
      area: AREA,
      scenario: 'a request without a key',
      expected: 'names the header and the scheme',
      runs: responses.length,
      observed: { 'as expected': responses.length },
    });
  });

  it('with a long id are refused, and keep others', async (context) => {
    const ids = ['x'.repeat(1_025), 'x'.repeat(15_000), `${'a'.repeat(1_000)}, ${'b'.repeat(100)}`];
    const responses = await Promise.all(
      ids.map((id) => ask(`${service.url}/healthz`, { headers: { 'X-Request-ID': id } })),
    );
    for (const { status, headers } of responses) {
      expect([status, headers.get('x-request-id')]).toEqual([431, expect.stringMatching(/^[0-9a-f]{32}$/)]);
    }
    const longest = 'y'.repeat(1_024);
    const kept = await ask(`${service.url}/healthz`, { headers: { 'X-Request-ID': longest } });
    expect(kept.headers.get('x-request-id')).toBe(longest);
    for (const line of service.lines) expect(line.length).toBeLessThan(4000);
    report(context, {
      area: AREA,
      scenario: 'an `X-Request-ID` of up to 15 kB, without a key',
      expected: 'echoed up to 1,024 characters, else 431 `request_id_too_long` with another id',
      runs: ids.length + 1,
      observed: { 'as expected': ids.length + 1 },
    });
  });
});

describe('one client', () => {
  it('that does not read its exports does not block the exports of others', async (context) => {
    const id = await storeLarge(service.url, as(KEYS.editor));
    using readers = new DisposableStack();
    const path = `/datasets/${id}/items.jsonl`;
    const header = `Authorization: Bearer ${KEYS.viewer}\r\n`;
    const outcomes: string[] = [];
    // four of a client's streams run, the others wait or are refused
    const opening = Array.from({ length: 8 }, async (): Promise<void> => {
      const reader = readers.use(await openConnection(service.url));
      reader.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
      await reader.until(/^HTTP\/1\.1 (?:200 |429 [\s\S]*\}\n?$)/);
      reader.socket.pause();
      outcomes.push(reader.answer().slice(9, 12));
    });
    await expect.poll(() => outcomes.length).toBeGreaterThanOrEqual(4);
    const others = await Promise.all(
      ['/export', '/items.jsonl'].map((part) => get(`/datasets/${id}${part}`, KEYS.other)),
    );
    expect(others.map(({ status }) => status)).toEqual([200, 200]);
    await Promise.all(opening);
    expect(tally(outcomes)['429']).toBeGreaterThanOrEqual(1);
    // and those that take nothing are let go
    const ended = (): number =>
      service.log().filter(({ event, route, status_code }) => {
        return event === 'http.request' && route === '/datasets/:id/items.jsonl' && status_code === 499;
      }).length;
    await expect.poll(ended, { timeout: 60_000 }).toBe(tally(outcomes)['200']);
    report(context, {
      area: AREA,
      scenario: '8 clients with one key do not read their exports, and other clients request one',
      expected:
        'four of them are served, the rest get 429; others are served immediately; clients that do not read are disconnected',
      runs: 8 + others.length,
      observed: { ...tally([...outcomes, ...others.map(outcomeOf)]) },
    });
  });

  it('has a limited number of event streams', async (context) => {
    const form = uploadForm(samplePackage(1), 'watched');
    const upload = { method: 'POST', body: form, headers: as(KEYS.editor) };
    const stored = await ask(`${service.url}/datasets/upload`, upload);
    const run = await ask(`${service.url}/runs`, {
      method: 'POST',
      headers: { ...as(KEYS.editor), 'Content-Type': 'application/json' },
      body: JSON.stringify({
        dataset_id: stored.body.id,
        config: { provider: { type: 'echo' }, allow_unscored: true },
      }),
    });
    const path = `/runs/${run.body.id}/events`;
    using watchers = new DisposableStack();
    const open: RawConnection[] = [];
    for (let index = 0; index < 100; index++) {
      open.push(
        watchers.use(await readNothing(service.url, path, `Authorization: Bearer ${KEYS.viewer}\r\n`)),
      );
    }
    const refused = await Promise.all(Array.from({ length: 50 }, () => get(path, KEYS.viewer)));
    expect(tally(refused.map(outcomeOf))).toEqual({ '429 rate_limited': 50 });
    for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    const other = watchers.use(
      await readNothing(service.url, path, `Authorization: Bearer ${KEYS.other}\r\n`),
    );
    expect((await get('/datasets', KEYS.viewer)).status).toBe(200);
    // the end of what is watched reaches every stream
    const cancel = { method: 'POST', headers: as(KEYS.editor) };
    expect((await ask(`${service.url}/runs/${run.body.id}/cancel`, cancel)).status).toBe(202);
    const last = await Promise.all(
      [...open, other].map(({ socket, ended }) => {
        socket.resume();
        return ended;
      }),
    );
    for (const text of last) expect(text).toMatch(/event: end\ndata: \{.*"status":"cancelled"/);
    report(context, {
      area: AREA,
      scenario: '150 event streams with one key, on one run',
      expected:
        '100, the others 429 with `Retry-After`; they share their database reads; other keys have their own limit',
      runs: 151,
      observed: { ...tally(refused.map(outcomeOf)), 'open until the end': last.length },
    });
  });

  it('has a limited number of uploads arriving, half of them for each client', async (context) => {
    using uploads = new DisposableStack();
    const head = (key: string): string =>
      `POST /datasets/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 10000000\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
    const runs = times(60, 20);
    for (const [index, key] of [KEYS.editor, KEYS.otherEditor].entries()) {
      const open: RawConnection[] = [];
      for (let count = 0; count < runs; count++) {
        const upload = uploads.use(await openConnection(service.url));
        upload.send(head(key));
        upload.send(Buffer.alloc(100_000));
        open.push(upload);
      }
      const refused = (): number => open.filter(({ answer }) => /^HTTP\/1\.1 503 /.test(answer())).length;
      await expect.poll(refused).toBe(runs - UPLOADS / 2);
      await expect.poll(() => service.stagedFiles()).toHaveLength((UPLOADS / 2) * (index + 1));
    }
    report(context, {
      area: AREA,
      scenario: 'many concurrent uploads that do not end',
      expected:
        'the allowed number is on the disk, at most half of it for one client; the others get 503 before a byte is stored',
      runs: 2 * runs,
      observed: { arriving: UPLOADS, '503 unavailable': 2 * runs - UPLOADS },
    });
  });
});

describe('keys', () => {
  it('that are short are configuration errors', async (context) => {
    const wrong = [
      { SVC_API_KEYS: 'admin:a' },
      { SVC_API_KEYS: `admin:${KEYS.viewer},viewer:fifteen-letters` },
      { SVC_METRICS_KEY: 'fifteen-letters' },
      { SVC_JOB_KEY: 'x' },
    ];
    // the tests of the configuration read them all
    const runs = wrong.slice(0, times(wrong.length, 1));
    for (const env of runs) {
      const started = runService({
        app: 'api',
        dataDir: '/nonexistent',
        env: { DATABASE_URL: 'postgresql://127.0.0.1:1/x', ...env } as Record<string, string>,
      });
      await expect(started).rejects.toThrow(/16/);
    }
    report(context, {
      area: AREA,
      scenario: 'keys of fewer than 16 characters',
      expected: 'refuses to start and names it',
      runs: runs.length,
      observed: { 'as expected': runs.length },
    });
  });

  it('cannot be tried one after the other', async (context) => {
    await using other = await startService({
      SVC_API_KEYS: Object.values(KEYS)
        .map((key) => `viewer:${key}`)
        .join(),
    });
    const { url } = other.service;
    const tryKey = async (key: string, path = '/datasets'): Promise<string> =>
      outcomeOf(await ask(url + path, { headers: as(key) }));
    expect(await tryKey(KEYS.viewer)).toBe('200');
    const outcomes: string[] = [];
    for (let index = 0; index < 300; index++) {
      outcomes.push(
        await tryKey(`a-key-that-a-client-guessed-${index}`, index % 3 === 0 ? '/metrics' : '/datasets'),
      );
    }
    const counts = tally(outcomes);
    // ten immediately, and one more for each six seconds that this took
    expect(counts['401 unauthenticated']).toBeGreaterThanOrEqual(10);
    expect(counts['401 unauthenticated']).toBeLessThan(100);
    expect(Object.keys(counts).sort()).toEqual(['401 unauthenticated', '429 rate_limited']);
    // a guess that is right looks as one that is wrong, unless a guess of the next six seconds has just become free;
    // who had a key before still has it
    const right = [await tryKey(KEYS.other), await tryKey(KEYS.editor), await tryKey(KEYS.otherEditor)];
    expect(right).toContain('429 rate_limited');
    expect(await tryKey(KEYS.viewer)).toBe('200');
    report(context, {
      area: AREA,
      scenario: '300 wrong keys from one address, one after the other',
      expected: '10 per minute are checked, the rest get 429; keys in use at that address still work',
      runs: 300,
      observed: { 'checked or refused': 300 },
    });
  });

  it.skipIf(process.platform === 'win32')(
    'that are made for a deployment are its owner’s to read',
    (context) => {
      const folder = mkdtempSync(join(tmpdir(), 'svc-env-'));
      try {
        const script = fileURLToPath(new URL('../../../../deploy/make-env.sh', import.meta.url));
        const make = (): Buffer =>
          execFileSync('sh', ['-c', 'umask 022; exec sh "$0" "$1"', script, join(folder, '.env')], {
            stdio: 'pipe',
          });
        make();
        expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
        // keys that are in use are not written over
        expect(make).toThrow();
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
      report(context, {
        area: AREA,
        scenario: '`deploy/make-env.sh` under the umask 022',
        expected: 'a file of mode 0600; an existing file is not overwritten',
        runs: 2,
        observed: { 'as expected': 2 },
      });
    },
  );
});

describe('transport headers', () => {
  it('are sent by HTTPS alone, and for this host alone', async (context) => {
    await using proxied = await startService({ SVC_TRUST_PROXY: 'true' });
    const strict = async (url: string, headers: Record<string, string>) => {
      const answer = await ask(`${url}/docs`, { headers });
      const csp = answer.headers.get('content-security-policy') ?? '';
      return [answer.headers.get('strict-transport-security'), csp.includes('upgrade-insecure-requests')];
    };
    const byHttps = { 'X-Forwarded-Proto': 'https' };
    const { url } = proxied.service;
    expect(await strict(service.url, {})).toEqual([null, false]);
    expect(await strict(service.url, byHttps)).toEqual([null, false]);
    expect(await strict(url, {})).toEqual([null, false]);
    expect(await strict(url, byHttps)).toEqual(['max-age=31536000', true]);
    report(context, {
      area: AREA,
      scenario: '`Strict-Transport-Security` and `upgrade-insecure-requests`',
      expected: 'sent if a trusted proxy says HTTPS, for this host; never over plain HTTP',
      runs: 4,
      observed: { 'as expected': 4 },
    });
  });
});
