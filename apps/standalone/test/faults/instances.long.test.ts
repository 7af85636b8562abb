import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { openConnection } from '../../../api/test/raw-connection.ts';
import { report, tally } from './report.ts';
import type { ServiceProcess } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import { upload } from './stored-datasets.ts';
import { useDatabase } from './use-database.ts';

const AREA = 'Several instances';
// one data folder for all
const file = useDatabase();
let first: ServiceProcess;
beforeAll(async () => {
  first = await file.start();
});

describe('instances on one database and one data folder', () => {
  it('leave each other’s uploads alone when one starts, and clean up after one that died', async (context) => {
    // large enough to be staged on the disk
    const archive = samplePackage(20, 10_000);
    const body = Buffer.from(await new Response(uploadForm(archive, 'through it all')).bytes());
    const boundary = /^--(\S+)/.exec(body.toString('latin1'))?.[1];
    const open = async (service: ServiceProcess, share: number) => {
      const connection = await openConnection(service.url);
      connection.send(
        `POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${body.byteLength}\r\n\r\n`,
      );
      connection.send(body.subarray(0, Math.floor(body.byteLength * share)));
      return connection;
    };
    using kept = await open(first, 0.8);
    const dying = await file.start();
    using _lost = await open(dying, 0.8);
    await expect.poll(() => first.stagedFiles()).toHaveLength(2);
    await dying.end('SIGKILL');
    const third = await file.start();
    // that of the first is still there, that of the dead one is not
    expect(await third.stagedFiles()).toHaveLength(1);
    expect(third.log().find(({ event }) => event === 'spool.clean')).toMatchObject({ files: 1 });
    kept.send(body.subarray(Math.floor(body.byteLength * 0.8)));
    await kept.until(/^HTTP\/1\.1 201 /);
    await expect.poll(() => third.stagedFiles()).toEqual([]);
    report(context, {
      area: AREA,
      scenario: 'an instance starts while another one receives an upload and a third was killed during one',
      expected: 'it removes the files of the killed one, and nothing else',
      runs: 1,
      observed: { 'removed one file, the other upload got 201': 1 },
    });
  });
});

/** A balancer that asks `/readyz` every 100 ms, keeps its connections, and repeats nothing. */
async function startBalancer(): Promise<
  AsyncDisposable & {
    readonly url: string;
    readonly targets: Set<string>;
    readonly isReady: (url: string) => boolean;
  }
> {
  const targets = new Set<string>();
  const ready = new Set<string>();
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const probing = setInterval(() => {
    for (const url of targets) {
      const known = fetch(`${url}/readyz`)
        .then(({ ok }) => ok)
        .catch(() => false);
      void known.then((ok) => (ok && targets.has(url) ? ready.add(url) : ready.delete(url)));
    }
  }, 100);
  const server = createServer((from, to) => {
    const chosen = [...ready][turn++ % Math.max(1, ready.size)];
    if (chosen === undefined) return void to.writeHead(502).end();
    const { method, headers } = from;
    const options = { method, headers: { ...headers, host: 'x' }, agent };
    const passed = request(chosen + from.url, options, (answer) => {
      const { connection: _, ...others } = answer.headers;
      to.writeHead(answer.statusCode ?? 502, others);
      answer.pipe(to);
    });
    passed.on('error', () => to.writeHead(502).end());
    from.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    targets,
    isReady: (url) => ready.has(url),
    async [Symbol.asyncDispose]() {
      clearInterval(probing);
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

it('a rolling restart behind a balancer fails no request', async (context) => {
  await using balancer = await startBalancer();
  const env = { SVC_DRAIN_DELAY_MS: '1000' };
  const add = async (): Promise<ServiceProcess> => {
    const service = await file.start({ env });
    balancer.targets.add(service.url);
    await expect.poll(() => balancer.isReady(service.url)).toBe(true);
    return service;
  };
  let running = [await add(), await add()];
  const found: string[] = [];
  let isOver = false;
  const client = async (number: number): Promise<void> => {
    for (let round = 0; !isOver; round += 1) {
      const asked =
        number % 4 === 0
          ? upload({ url: balancer.url }, `rolling ${number} ${round}`, samplePackage(20, 200, round))
          : fetch(`${balancer.url}/datasets`).then(async (response) => {
              await response.arrayBuffer();
              return { status: response.status, body: {} };
            });
      found.push(
        await asked.then(
          ({ status }) => String(status),
          (error: Error) => error.message,
        ),
      );
    }
  };
  const clients = Array.from({ length: 8 }, (_, number) => client(number));
  for (let round = 0; round < 3; round += 1) {
    for (const old of running) {
      await add().then((next) => (running = [...running.filter((one) => one !== old), next]));
      expect(await old.end('SIGTERM')).toBe(0);
      balancer.targets.delete(old.url);
      await delay(200);
    }
  }
  isOver = true;
  await Promise.all(clients);
  expect(Object.keys(tally(found)).sort()).toEqual(['200', '201']);
  report(context, {
    area: AREA,
    scenario: 'a rolling restart of two API processes behind a balancer, under load of eight clients',
    expected: 'no request fails',
    runs: found.length,
    observed: tally(found),
  });
});
