import { createHash, randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { S3_CREDENTIALS, startS3, type TestS3 } from '../../../../test/store/start-s3.ts';
import { startTcpProxy, type TcpProxy } from '../../../../test/store/tcp-proxy.ts';
import type { AssetContent } from '../asset-store.ts';
import { createS3Objects, type S3Objects } from './s3-objects.ts';

let s3: TestS3;
let proxy: TcpProxy;
let objects: S3Objects;

/** Far shorter than the defaults, for servers that do not respond. */
const IMPATIENT = { connectMs: 500, responseMs: 500, idleMs: 500 };

const objectsAt = (url: string, timeouts: Partial<typeof IMPATIENT> = {}): S3Objects =>
  createS3Objects({
    location: { bucket: 'assets', prefix: 'of/tests/', endpoint: url, region: null },
    retryDelayMs: 5,
    ...timeouts,
  });

beforeAll(async () => {
  for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value);
  s3 = await startS3();
  proxy = await startTcpProxy(s3.url.replace('http:', 'postgresql:'));
  objects = objectsAt(`http://127.0.0.1:${proxy.port}`);
});
afterEach(() => {
  proxy.line = 'passes';
  proxy.target = s3.url.replace('http:', 'postgresql:');
});
afterAll(async () => {
  objects.close();
  await proxy[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
});

const contentOf = (bytes: Uint8Array): AssetContent => ({
  bytes,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});

async function read(name: string, start: number, end: number, from = objects): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(from.read(name, { start, end })));
}

/** A server that responds to the nth request as told, and always at the end as to the last. */
async function startScripted(
  ...responses: readonly RequestListener[]
): Promise<{ server: Server; url: string; objects: S3Objects; requests: string[] } & AsyncDisposable> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.headers.range ?? ''}`.trim());
    const respond = responses[Math.min(requests.length, responses.length) - 1];
    request.resume().on('end', () => respond?.(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return {
    server,
    url,
    requests,
    objects: objectsAt(url),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('objects of S3', () => {
  it('stores, reads ranges, replaces and deletes', async () => {
    const bytes = randomBytes(300_000);
    const object = contentOf(bytes);
    await objects.put('a', object);
    await objects.put('a', object);
    expect(await s3.objects()).toEqual(['of/tests/a']);
    expect(await read('a', 0, bytes.length)).toEqual(bytes);
    expect(await read('a', 100_000, 100_001)).toEqual(bytes.subarray(100_000, 100_001));
    expect(await read('a', 7, 7)).toEqual(Buffer.alloc(0));
    await objects.delete('a');
    await objects.delete('a');
    expect(await s3.objects()).toEqual([]);
    await expect(read('a', 0, 1)).rejects.toMatchObject({
      code: 'asset_missing',
      message: 'Cannot read the asset a: the object storage does not have it.',
    });
  });

  it('sends the hash along, which the server checks', async () => {
    const object = contentOf(randomBytes(3_000_000));
    const hashes: unknown[] = [];
    await using checking = await startScripted((request, response) => {
      hashes.push(request.headers['x-amz-content-sha256']);
      response.writeHead(400).end();
    });
    await expect(checking.objects.put('wrong', object)).rejects.toMatchObject({ code: 'unavailable' });
    expect(hashes).toEqual([object.sha256]);
  });

  it('reports an outage, and works again after it', async () => {
    proxy.target = null;
    proxy.cut();
    const object = contentOf(Buffer.from('bytes'));
    const outage = { code: 'unavailable', message: 'The object storage cannot be reached at the moment.' };
    await expect(objects.put('b', object)).rejects.toMatchObject(outage);
    await expect(read('b', 0, 5)).rejects.toMatchObject(outage);
    await expect(objects.delete('b')).rejects.toMatchObject(outage);
    proxy.target = s3.url.replace('http:', 'postgresql:');
    await objects.put('b', object);
    expect(String(await read('b', 0, 5))).toBe('bytes');
  });

  it('gives up on a server that does not respond, and ends immediately when it is aborted', async () => {
    proxy.line = 'stalls';
    using impatient = new DisposableStack();
    const stalled = impatient.adopt(objectsAt(`http://127.0.0.1:${proxy.port}`, IMPATIENT), (one) =>
      one.close(),
    );
    await expect(read('b', 0, 5, stalled)).rejects.toMatchObject({ code: 'unavailable' });
    const leaving = new AbortController();
    const reading = Array.fromAsync(
      objectsAt(`http://127.0.0.1:${proxy.port}`).read('b', { start: 0, end: 5 }, leaving.signal),
    );
    const storing = objects.put('c', contentOf(Buffer.from('c')), leaving.signal);
    const reason = new Error('the client left');
    leaving.abort(reason);
    await expect(reading).rejects.toBe(reason);
    await expect(storing).rejects.toBe(reason);
  });

  it('resumes a response that is interrupted or pauses where it stopped', async () => {
    const bytes = randomBytes(1_000);
    const partial = (from: number, to: number, then: 'end' | 'break' | 'pause') =>
      ((_request, response) => {
        response.writeHead(206, {
          'Content-Length': String(1_000 - from),
          'Content-Range': `bytes ${from}-999/1000`,
        });
        response.write(bytes.subarray(from, to), () => {
          if (then === 'break') response.destroy();
          if (then === 'end') response.end();
        });
      }) satisfies RequestListener;
    await using whole = await startScripted(
      partial(0, 400, 'break'),
      partial(400, 700, 'pause'),
      partial(700, 1_000, 'end'),
    );
    const impatient = objectsAt(whole.url, { idleMs: 1_000 });
    expect(await read('d', 0, 1_000, impatient)).toEqual(bytes);
    expect(whole.requests).toEqual(['GET bytes=0-999', 'GET bytes=400-999', 'GET bytes=700-999']);
    await using never = await startScripted(partial(0, 400, 'break'), (_request, response) =>
      response.destroy(),
    );
    await expect(read('d', 0, 1_000, never.objects)).rejects.toMatchObject({ code: 'unavailable' });
    expect(never.requests.length).toBeLessThan(10);
  });

  it('repeats an upload to a busy server from its beginning, and no refused one', async () => {
    const answer =
      (status: number): RequestListener =>
      (_request, response) => {
        response.writeHead(status).end();
      };
    const object = contentOf(randomBytes(200_000));
    await using busy = await startScripted(answer(503), answer(500), answer(200));
    await busy.objects.put('e', object);
    expect(busy.requests).toEqual(['PUT', 'PUT', 'PUT']);
    await using refusing = await startScripted(answer(400));
    await expect(refusing.objects.put('e', object)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The object storage refuses the request (status 400).',
    });
    expect(refusing.requests).toHaveLength(1);
  });

  it('says that credentials are wrong, or the bucket is missing, without a word of the server', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'another');
    const stranger = objectsAt(s3.url);
    const refused = {
      code: 'unavailable',
      message: 'The object storage refuses the credentials of the service.',
    };
    await expect(read('a', 0, 1, stranger)).rejects.toMatchObject(refused);
    await expect(stranger.put('f', contentOf(Buffer.from('f')))).rejects.toMatchObject(refused);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'S3RVER');
    const elsewhere = createS3Objects({
      location: { bucket: 'other', prefix: '', endpoint: s3.url, region: null },
      retryDelayMs: 5,
    });
    await expect(elsewhere.put('f', contentOf(Buffer.from('f')))).rejects.toMatchObject({
      message: 'The object storage does not have the configured bucket.',
    });
  });
});
