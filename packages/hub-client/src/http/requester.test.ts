import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeHub, type Fault, startFakeHub } from '../../test/fake-hub.ts';
import { IMPATIENT, readValue, testRequester } from '../../test/requester.ts';
import { HubError } from '../errors.ts';
import type { HubRequest } from './request.ts';

let hub: FakeHub;

beforeEach(async () => {
  hub = await startFakeHub(
    { id: 'o/d', files: { 'README.md': '# d', 'data.csv': 'a\n1\n' } },
    { id: 'o/private', files: { a: 'b' }, access: 'private', readers: ['hf_reader'] },
    { id: 'o/gated', files: { 'data.csv': 'b' }, access: 'gated', readers: ['hf_reader'] },
    { id: 'o/disabled', files: { 'data.csv': 'b' }, access: 'disabled' },
  );
  hub.tokens.add('hf_stranger');
});
afterEach(() => hub.close());

const info = (path = 'o/d'): HubRequest => ({
  kind: 'info',
  url: new URL(`${hub.endpoint}/api/datasets/${path}`),
});
const file = (path: string): HubRequest => ({
  kind: 'file',
  url: new URL(`${hub.endpoint}/datasets/${path}`),
});

async function failure(work: Promise<unknown>): Promise<HubError> {
  const error = await work.then(
    () => new Error('did not fail'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HubError);
  return error as HubError;
}

describe('a response', () => {
  it('is read as JSON, and reported once without path or query', async () => {
    const { requester, context, events } = testRequester(hub.endpoint);
    const value = await readValue(requester, info(), context);
    expect(value).toMatchObject({ id: 'o/d' });
    expect(events).toEqual([
      {
        method: 'GET',
        host: new URL(hub.endpoint).host,
        kind: 'info',
        status: 200,
        outcome: 'ok',
        durationMs: 0,
        bytes: hub.requests[0]?.bytes,
        hubRequestId: expect.stringMatching(/^Root=1-/),
      },
    ]);
    expect(hub.requests[0]?.headers).toMatchObject({ 'user-agent': 'test/1', 'accept-encoding': 'identity' });
  });

  it('follows a renamed repository, with the token', async () => {
    hub.rename('old', 'o/private');
    const { requester, context } = testRequester(hub.endpoint, {}, { token: 'hf_reader' });
    const value = await readValue(requester, info('old'), context);
    expect(value).toMatchObject({ id: 'o/private' });
    expect(hub.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer hf_reader',
      'Bearer hf_reader',
    ]);
  });

  it('is decoded when it comes compressed against the request', async () => {
    hub.fail({ match: /api/, fault: { kind: 'gzip' } });
    const { requester, context } = testRequester(hub.endpoint);
    expect(await readValue(requester, info(), context)).toMatchObject({ id: 'o/d' });
  });

  it('is refused beyond its limit', async () => {
    const { requester, context } = testRequester(hub.endpoint);
    expect((await failure(readValue(requester, info(), context, 10))).code).toBe('hub_bad_response');
  });
});

describe('an error response', () => {
  it.each([
    ['missing, no token', 'no/such', undefined, 'hub_dataset_not_found', 401],
    ['missing, with a token', 'no/such', 'hf_reader', 'hub_dataset_not_found', 404],
    ['private, with a token that may not', 'o/private', 'hf_stranger', 'hub_dataset_not_found', 404],
    ['token that the hub does not know', 'o/d', 'hf_expired', 'hub_dataset_not_found', 401],
    ['unknown revision', 'o/d/revision/nope', undefined, 'hub_revision_not_found', 404],
  ])('%s', async (_name, path, token, code, status) => {
    const { requester, context } = testRequester(hub.endpoint, {}, { token });
    const error = await failure(readValue(requester, info(path), context));
    expect(error).toMatchObject({ code, details: { status } });
    expect(error.message).toContain('o/d');
    expect(JSON.stringify(error) + error.message).not.toContain(token ?? 'hf_');
    expect(hub.requests).toHaveLength(1);
  });

  it('of a token says so', async () => {
    const { requester, context } = testRequester(hub.endpoint, {}, { token: 'hf_expired' });
    expect((await failure(readValue(requester, info(), context))).message).toMatch(
      /does not accept the token/,
    );
  });

  it.each([
    ['gated, no token', 'o/gated', undefined],
    ['gated, not granted', 'o/gated', 'hf_stranger'],
    ['disabled', 'o/disabled', undefined],
  ])('%s', async (_name, id, token) => {
    const { requester } = testRequester(hub.endpoint, {}, { token });
    const error = await failure(requester.read(file(`${id}/resolve/main/data.csv`), (a) => a.bytes(10)));
    expect(error.code).toBe('hub_gated');
  });

  it.each([
    [403, {}, '{"error":"token has no right"}', 'hub_gated'],
    [451, {}, '', 'hub_gated'],
    [404, {}, '', 'hub_dataset_not_found'],
    [400, {}, '{"error":["a","b"]}', 'hub_bad_response'],
    [418, {}, '<html>', 'hub_bad_response'],
    [404, { 'x-error-code': 'EntryNotFound' }, '', 'hub_bad_response'],
  ])('%d %j is %s', async (status, headers, body, code) => {
    hub.fail({
      match: /./,
      fault: { kind: 'status', status, headers: headers as Record<string, string>, body },
    });
    const { requester, context } = testRequester(hub.endpoint);
    expect((await failure(readValue(requester, info(), context))).code).toBe(code);
    expect(hub.requests).toHaveLength(1);
  });
});

describe('a hub in trouble', () => {
  const faults: Array<[string, Fault, string]> = [
    ['500', { kind: 'status', status: 500 }, 'hub_unavailable'],
    ['502 with a page', { kind: 'status', status: 502, body: '<html>' }, 'hub_unavailable'],
    ['503', { kind: 'status', status: 503 }, 'hub_unavailable'],
    ['504', { kind: 'status', status: 504 }, 'hub_timeout'],
    ['429', { kind: 'status', status: 429 }, 'hub_rate_limited'],
    ['no answer', { kind: 'silent' }, 'hub_timeout'],
    ['an answer that stops', { kind: 'stall', afterBytes: 5 }, 'hub_timeout'],
    ['a connection that breaks', { kind: 'cut', afterBytes: 5 }, 'hub_unavailable'],
    ['not HTTP', { kind: 'garbage' }, 'hub_bad_response'],
  ];
  const optionsFor = ({ kind }: Fault): Partial<typeof IMPATIENT> =>
    kind === 'silent' || kind === 'stall' ? IMPATIENT : {};

  it.each(faults)('%s: is retried, then reported', async (_name, fault, code) => {
    hub.fail({ match: /./, fault });
    const { requester, context, clock, retries, events } = testRequester(hub.endpoint, optionsFor(fault));
    expect((await failure(readValue(requester, info(), context))).code).toBe(code);
    expect(clock.slept).toEqual([100, 200, 400]);
    expect(retries.map((retry) => [retry.code, retry.failures, retry.delayMs])).toEqual([
      [code, 1, 100],
      [code, 2, 200],
      [code, 3, 400],
    ]);
    await expect.poll(() => hub.requests).toHaveLength(4);
    expect(events).toHaveLength(4);
  });

  it.each(faults)('%s: one failure does not matter', async (_name, fault) => {
    hub.fail({ match: /./, fault, times: 1 });
    const { requester, context } = testRequester(hub.endpoint, optionsFor(fault));
    expect(await readValue(requester, info(), context)).toMatchObject({ id: 'o/d' });
  });

  it.each([
    ['a page of HTML', { kind: 'html' }],
    ['JSON that ends early', { kind: 'short', afterBytes: 20 }],
  ] as Array<[string, Fault]>)('%s is not retried', async (_name, fault) => {
    hub.fail({ match: /./, fault });
    const { requester, context } = testRequester(hub.endpoint);
    expect((await failure(readValue(requester, info(), context))).code).toBe('hub_bad_response');
    expect(hub.requests).toHaveLength(1);
  });

  it('no server listens', async () => {
    await hub.close();
    const { requester, context, events } = testRequester(hub.endpoint);
    const error = await failure(readValue(requester, info(), context));
    expect(error.code).toBe('hub_unavailable');
    expect(events.map(({ status, outcome }) => [status, outcome])).toEqual(Array(4).fill([null, 'failed']));
  });
});

describe('rate limits', () => {
  it('a used-up window is waited for, by every request of its bucket and token', async () => {
    hub.rateLimit = { remaining: 0, resetSeconds: 9 };
    const { requester, context, clock } = testRequester(hub.endpoint);
    const sleep = clock.sleep;
    const wake: Array<() => void> = [];
    clock.sleep = async (delayMs) => {
      await new Promise<void>((resolve) => wake.push(resolve));
      await sleep(delayMs);
    };
    const first = readValue(requester, info(), context);
    await expect.poll(() => wake).toHaveLength(1);
    const second = readValue(requester, info(), context);
    await expect.poll(() => wake).toHaveLength(2);
    expect(hub.requests).toHaveLength(1);

    hub.rateLimit = null;
    for (const go of wake) go();
    await Promise.all([first, second]);
    expect(clock.slept).toEqual([10_000, 10_000]);
    expect(hub.requests).toHaveLength(3);
  });

  it('a window ends on time, even if the time of day is set in between', async () => {
    hub.rateLimit = { remaining: 0, resetSeconds: 299 };
    const { requester, context, clock } = testRequester(hub.endpoint);
    expect(await failure(readValue(requester, info(), context))).toMatchObject({
      code: 'hub_rate_limited',
    });
    hub.rateLimit = null;
    await clock.sleep(299_500);
    for (const years of [-1, 1]) {
      clock.dateMs = () => Date.UTC(2026 + years, 0, 1);
      await readValue(requester, info(), context);
    }
    expect(clock.slept).toEqual([299_500, 500]);
  });

  it('a wait beyond the budget is not started, and reported', async () => {
    hub.rateLimit = { remaining: 0, resetSeconds: 299 };
    const { requester, context, clock } = testRequester(hub.endpoint);
    const error = await failure(readValue(requester, info(), context));
    expect(error).toMatchObject({
      code: 'hub_rate_limited',
      details: { retryAfterMs: 300_000, status: 429 },
    });
    const again = await failure(readValue(requester, info(), context));
    expect(again).toMatchObject({ code: 'hub_rate_limited', details: { retryAfterMs: 300_000 } });
    expect(clock.slept).toEqual([]);
    expect(hub.requests).toHaveLength(1);
  });

  it.each([
    ['a window', { ratelimit: '"api";r=0;t=99999999' }],
    ['Retry-After', { 'retry-after': '99999999' }],
  ])('%s of years closes the hub for a quarter of an hour', async (_name, headers) => {
    hub.fail({ match: /./, fault: { kind: 'status', status: 429, headers }, times: 1 });
    const { requester, context, clock } = testRequester(hub.endpoint);
    expect(await failure(readValue(requester, info(), context))).toMatchObject({
      details: { retryAfterMs: 900_000, status: 429 },
    });
    await clock.sleep(900_001);
    expect(await readValue(requester, info(), context)).toMatchObject({ id: 'o/d' });
  });

  it('another token has another window', async () => {
    hub.rateLimit = { remaining: 0, resetSeconds: 299 };
    const { requester, context } = testRequester(hub.endpoint);
    const error = await failure(readValue(requester, info(), context));
    expect(error.message).toMatch(/set HUB_TOKEN/);
    hub.rateLimit = null;
    const other = { ...context, token: 'hf_reader' };
    expect(await readValue(requester, info(), other)).toMatchObject({ id: 'o/d' });
  });
});

describe('ending', () => {
  it("the signal ends a request that waits for its answer, with the signal's reason", async () => {
    hub.fail({ match: /./, fault: { kind: 'silent' } });
    const abort = new AbortController();
    const { requester, context, events } = testRequester(
      hub.endpoint,
      { onRequest: (event) => events.push(event) },
      { signal: abort.signal },
    );
    const ended = expect(readValue(requester, info(), context)).rejects.toThrow('enough');
    await expect.poll(() => hub.requests).toHaveLength(1);
    abort.abort(new Error('enough'));
    await ended;
    expect(events).toMatchObject([{ outcome: 'aborted', status: null }]);
  });

  it('a request may have less time for its headers, so that a retry fits', async () => {
    hub.fail({ match: /./, times: 1, fault: { kind: 'silent' } });
    const { requester, context } = testRequester(hub.endpoint, { headersTimeoutMs: 600_000 });
    const value = await readValue(requester, info(), { ...context, headersTimeoutMs: 1000 });
    expect(value).toMatchObject({ id: 'o/d' });
    expect(hub.requests).toHaveLength(2);
  });

  it('an aborted signal makes no request', async () => {
    const { requester, context } = testRequester(
      hub.endpoint,
      {},
      { signal: AbortSignal.abort(new Error('no')) },
    );
    await expect(readValue(requester, info(), context)).rejects.toThrow('no');
    expect(hub.requests).toHaveLength(0);
  });

  it('the deadline ends waiting and retrying', async () => {
    hub.fail({ match: /./, fault: { kind: 'silent' } });
    const { requester, context, clock } = testRequester(hub.endpoint, { headersTimeoutMs: 600_000 });
    const error = await failure(
      readValue(requester, info(), { ...context, deadlineMs: clock.nowMs() + 1000 }),
    );
    expect(error.code).toBe('hub_timeout');
    expect(hub.requests).toHaveLength(1);
  });
});

describe('redirects to elsewhere', () => {
  let other: Server;
  let seen: Array<string | undefined>;

  async function elsewhere(location: string | null): Promise<string> {
    seen = [];
    other = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(location === null ? 200 : 302, location === null ? {} : { location });
      response.end('{}');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
  }
  afterEach(() => other?.close());

  const sendTo = (location: string): void =>
    hub.fail({ match: /hub .*\/d$/, fault: { kind: 'status', status: 302, headers: { location } } });

  it('lose the token, also when the chain comes back', async () => {
    sendTo(await elsewhere(`${hub.endpoint}/api/datasets/o/private`));
    const { requester, context } = testRequester(hub.endpoint, {}, { token: 'hf_reader' });
    expect((await failure(readValue(requester, info(), context))).code).toBe('hub_bad_response');
    expect(seen).toEqual([undefined]);
    expect(hub.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer hf_reader', undefined]);
  });

  it.each(['http://', 'file:///etc/passwd', 'ftp://example.org/'])('to %s are refused', async (location) => {
    sendTo(location);
    const { requester, context } = testRequester(hub.endpoint);
    expect((await failure(readValue(requester, info(), context))).code).toBe('hub_bad_response');
  });

  it('in a circle end', async () => {
    sendTo(`${hub.endpoint}/api/datasets/o/d`);
    const { requester, context } = testRequester(hub.endpoint);
    expect((await failure(readValue(requester, info(), context))).code).toBe('hub_bad_response');
    expect(hub.requests.length).toBeLessThan(12);
  });
});
