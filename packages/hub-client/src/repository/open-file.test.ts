import { createHash, randomBytes } from 'node:crypto';
import type { ByteSource } from '@svc/tabular';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeHub, type Fault, startFakeHub } from '../../test/fake-hub.ts';
import { IMPATIENT, type TestRequester, testRequester } from '../../test/requester.ts';
import type { HubError } from '../errors.ts';
import { type FileLocation, HubFile } from './open-file.ts';

const content = randomBytes(400_000);
const small = new TextEncoder().encode('question,answer\n1+1,2\n');
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

let hub: FakeHub;
let tools: TestRequester;

beforeEach(async () => {
  hub = await startFakeHub({
    id: 'o/d',
    files: { 'data/big #1.parquet': content, 'small.csv': small, empty: '' },
    access: 'private',
    readers: ['hf_reader'],
  });
  tools = toolsFor();
});
afterEach(() => hub.close());

const toolsFor = (fault?: Fault): TestRequester =>
  testRequester(hub.endpoint, fault?.kind === 'stall' ? IMPATIENT : {}, { token: 'hf_reader' });

function open(over: Partial<FileLocation> = {}, signal?: AbortSignal): ByteSource {
  const location: FileLocation = {
    dataset: 'o/d',
    commit: hub.commitOf('o/d'),
    path: 'data/big #1.parquet',
    byteLength: content.length,
    sha256: sha256(content),
    ...over,
  };
  return new HubFile(tools.requester.with({ signal }), location);
}

async function all(file: ByteSource): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.stream()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const origins = (): string[] => hub.requests.map(({ origin }) => origin);
const code = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: HubError) => `${error.code}: ${error.message}`,
  );

describe('ranges', () => {
  it('come exactly, from one address that was asked for once', async () => {
    const file = open();
    for (const [start, end] of [
      [0, 4],
      [399_990, 400_000],
      [1000, 300_000],
      [7, 7],
    ] as const) {
      expect(Buffer.from(await file.readRange(start, end))).toEqual(content.subarray(start, end));
    }
    expect(origins()).toEqual(['hub', 'storage', 'storage', 'storage']);
    expect(hub.requests.map(({ headers }) => headers.range)).toEqual([
      'bytes=0-3',
      'bytes=0-3',
      'bytes=399990-399999',
      'bytes=1000-299999',
    ]);
  });

  it('the token reaches the hub and not the storage', async () => {
    await open().readRange(0, 10);
    const seen = hub.requests.map(({ origin, headers }) => [origin, headers.authorization]);
    expect(seen).toEqual([
      ['hub', 'Bearer hf_reader'],
      ['storage', undefined],
    ]);
  });

  it('of a small file come through the relative redirect, with the token', async () => {
    const file = open({ path: 'small.csv', byteLength: small.length, sha256: null });
    expect(new TextDecoder().decode(await file.readRange(9, 15))).toBe('answer');
    expect(new TextDecoder().decode(await file.readRange(0, 8))).toBe('question');
    expect(hub.requests.map(({ path, headers }) => [path.split('/')[1], headers.authorization])).toEqual([
      ['datasets', 'Bearer hf_reader'],
      ['api', 'Bearer hf_reader'],
      ['api', 'Bearer hf_reader'],
    ]);
  });

  it('outside of the file are refused without a request', async () => {
    expect(await code(open().readRange(0, content.length + 1))).toMatch(/^hub_bad_response/);
    expect(hub.requests).toHaveLength(0);
  });

  it('a signed address that expired is asked for again', async () => {
    const file = open();
    await file.readRange(0, 10);
    hub.expireSignedUrls();
    expect(Buffer.from(await file.readRange(10, 20))).toEqual(content.subarray(10, 20));
    expect(origins()).toEqual(['hub', 'storage', 'storage', 'hub', 'storage']);
  });

  it('a storage that refuses fresh addresses too is an error', async () => {
    hub.fail({ match: /^storage/, fault: { kind: 'status', status: 403 } });
    expect(await code(open().readRange(0, 10))).toMatch(/^hub_bad_response: .*refused/);
    expect(hub.requests).toHaveLength(2);
  });

  it('a host that ignores ranges gives a small file whole, once', async () => {
    hub.fail({ match: /^storage/, fault: { kind: 'ignore_range' } });
    const file = open();
    expect(Buffer.from(await file.readRange(100, 200))).toEqual(content.subarray(100, 200));
    const asked = hub.requests.length;
    expect(Buffer.from(await file.readRange(300_000, 400_000))).toEqual(content.subarray(300_000));
    expect(hub.requests).toHaveLength(asked);
  });

  it('a host that ignores ranges of a large file is an error, and the file is not fetched', async () => {
    const byteLength = 65 * 1024 * 1024;
    hub.add({
      id: 'o/large',
      files: { 'a.parquet': { byteLength, read: (start, end) => new Uint8Array(end - start) } },
    });
    hub.fail({ match: /^storage/, fault: { kind: 'ignore_range' } });
    const file = open({
      dataset: 'o/large',
      commit: hub.commitOf('o/large'),
      path: 'a.parquet',
      byteLength,
      sha256: null,
    });
    expect(await code(file.readRange(byteLength - 8, byteLength))).toMatch(/does not serve ranges/);
    expect(hub.totalBytes()).toBeLessThan(byteLength / 2);
  });
});

describe('interrupted transfers', () => {
  it.each([
    ['the connection is cut', { kind: 'cut', afterBytes: 150_000 }],
    ['the bytes stop coming', { kind: 'stall', afterBytes: 150_000 }],
    ['the body ends early', { kind: 'short', afterBytes: 150_000 }],
  ] as Array<[string, Fault]>)('%s: the rest is asked for', async (_name, fault) => {
    tools = toolsFor(fault);
    hub.fail({ match: /^storage/, fault, times: 1 });
    expect(Buffer.from(await all(open()))).toEqual(content);
    const [, first, second] = hub.requests;
    expect(first?.headers.range).toBeUndefined();
    expect(second?.headers.range).toBe('bytes=150000-399999');
    expect(second?.headers['if-range']).toMatch(/^"[0-9a-f]{64}"$/);
  });

  it('inside a range likewise', async () => {
    hub.fail({ match: /^storage/, fault: { kind: 'cut', afterBytes: 150_000 }, times: 1 });
    expect(Buffer.from(await open().readRange(50_000, 350_000))).toEqual(content.subarray(50_000, 350_000));
    expect(hub.requests.at(-1)?.headers.range).toBe('bytes=200000-349999');
  });

  it('and a host that then sends everything again', async () => {
    hub.fail({ match: /^storage/, fault: { kind: 'cut', afterBytes: 150_000 }, times: 1 });
    hub.fail({ match: /^storage/, fault: { kind: 'ignore_range' } });
    expect(Buffer.from(await all(open()))).toEqual(content);
  });

  it('progress resets the count of failures', async () => {
    hub.fail({ match: /^storage/, fault: { kind: 'cut', afterBytes: 70_000 }, times: 5 });
    expect(Buffer.from(await all(open()))).toEqual(content);
    expect(tools.clock.slept).toEqual([100, 100, 100, 100, 100]);
  });

  it.each([
    ['cut', { kind: 'cut', afterBytes: 10 }, /^hub_unavailable/],
    ['stalled', { kind: 'stall', afterBytes: 10 }, /^hub_timeout/],
    ['short', { kind: 'short', afterBytes: 10 }, /^hub_bad_response: .*ends after \d+ of 400000 bytes/],
  ] as Array<[string, Fault, RegExp]>)('without progress end: %s', async (_name, fault, expected) => {
    tools = toolsFor(fault);
    hub.fail({ match: /^storage/, fault });
    expect(await code(all(open()))).toMatch(expected);
    expect(tools.clock.slept).toHaveLength(3);
  });
});

describe('bytes that are not those of the file', () => {
  it('are detected by the hash', async () => {
    hub.fail({ match: /^storage/, fault: { kind: 'corrupt' } });
    expect(await code(all(open()))).toMatch(/^hub_bad_response: .*SHA-256/);
  });

  it.each([
    ['size', { byteLength: 399_999 }],
    ['hash', { sha256: 'a'.repeat(64) }],
  ])('are detected by another %s in the redirect', async (_name, over) => {
    expect(await code(all(open(over)))).toMatch(/^hub_bad_response/);
    expect(await code(open(over).readRange(0, 10))).toMatch(/^hub_bad_response/);
  });

  it.each([small.length - 1, small.length + 1])(
    'are detected by the size, declared %d',
    async (byteLength) => {
      const file = open({ path: 'small.csv', byteLength, sha256: null });
      expect(await code(all(file))).toMatch(/^hub_bad_response/);
      expect(await code(file.readRange(2, 5))).toMatch(/^hub_bad_response/);
    },
  );

  it('a file that is listed and not there', async () => {
    expect(await code(open({ path: 'nope.csv' }).readRange(0, 1))).toMatch(
      /^hub_bad_response: .*does not have it/,
    );
  });
});

describe('streams', () => {
  it('of an empty file need no request', async () => {
    expect(await all(open({ path: 'empty', byteLength: 0, sha256: sha256(new Uint8Array()) }))).toHaveLength(
      0,
    );
    expect(hub.requests).toHaveLength(0);
  });

  it('take small text that comes compressed without a length', async () => {
    hub.fail({ match: /resolve-cache/, fault: { kind: 'gzip' } });
    const file = open({ path: 'small.csv', byteLength: small.length, sha256: null });
    expect(Buffer.from(await all(file))).toEqual(Buffer.from(small));
  });

  it('end with their consumer, and with the signal', async () => {
    for await (const chunk of open().stream()) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect(tools.events.at(-1)).toMatchObject({ kind: 'storage', status: 200 });

    hub.fail({ match: /^storage/, fault: { kind: 'stall', afterBytes: 10 } });
    const abort = new AbortController();
    const asked = hub.requests.length;
    const ended = expect(all(open({}, abort.signal))).rejects.toThrow('enough');
    await expect.poll(() => hub.requests.length).toBeGreaterThan(asked + 1);
    abort.abort(new Error('enough'));
    await ended;
  });

  it('reuse the connection of a range that was read to its end', async () => {
    const file = open();
    for (let i = 0; i < 5; i += 1) await file.readRange(i * 1000, i * 1000 + 500);
    const ports = hub.requests.filter(({ origin }) => origin === 'storage').map(({ port }) => port);
    expect(ports).toHaveLength(5);
    // The pool may open a second one while it takes the first back.
    expect(new Set(ports).size).toBeLessThan(3);
  });
});
