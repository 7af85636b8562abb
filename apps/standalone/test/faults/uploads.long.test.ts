import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildZip } from '../../../../packages/pkg-format/test/build-zip.ts';
import { INSPECT, liveMemoryOf } from './inspect.ts';
import { report, tally } from './report.ts';
import { holdingsOf, metricOf, type ServiceProcess } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import { ask, LEFTOVERS, listDatasets, NO_LEFTOVERS, outcomeOf, verifyDataset } from './stored-datasets.ts';
import { useDatabase } from './use-database.ts';

const file = useDatabase();
let service: ServiceProcess;
beforeAll(async () => {
  service = await file.start({ nodeArguments: INSPECT });
});

type Bytes = Uint8Array<ArrayBuffer>;
const zip = (files: Readonly<Record<string, string>>): Bytes =>
  buildZip({ entries: Object.entries(files).map(([name, content]) => ({ name, content })) }) as Bytes;

/** Archives that must be refused, whatever else happens; `index` makes them differ. */
const BROKEN: readonly ((index: number) => Bytes)[] = [
  (index) => samplePackage(50, 200, index).subarray(0, 2000 + index) as Bytes,
  (index) => {
    const archive = samplePackage(50, 200, index);
    archive[100 + index] = (archive[100 + index] ?? 0) ^ 0xff;
    return archive;
  },
  (index) => zip({ 'sections/a.jsonl': `{"id":${index}}\n`.repeat(200), 'sections/b.jsonl': '{"a":tru}' }),
  () => zip({ 'readme.txt': 'x' }),
  () => zip({ 'sections/a.jsonl': '{}\n{"assets":["assets/none.png"]}' }),
  () =>
    zip({
      'sections/a.jsonl': '{}',
      'manifest.json': `{"hash_spec":"svc-jcs-sha256-1","version_hash":"${'0'.repeat(64)}"}`,
    }),
  () => new TextEncoder().encode('no archive'),
];

/** Sends part of an upload, then disconnects. */
async function abort(name: string, archive: Bytes, share: number): Promise<void> {
  const { hostname, port } = new URL(service.url);
  const head = `--b\r\nContent-Disposition: form-data; name="name"\r\n\r\n${name}\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), archive, Buffer.from('\r\n--b--\r\n')]);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.write(
    `POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.byteLength}\r\n\r\n`,
  );
  socket.write(body.subarray(0, Math.floor((body.byteLength - 1) * share)));
  await delay(share * 40);
  socket.destroy();
}

/** One of the uploads; returns its outcome as the client saw it. */
async function send(name: string, index: number): Promise<string> {
  const kind = index % 5;
  if (kind === 3) {
    const broken = BROKEN[Math.floor(index / 5) % BROKEN.length] as (typeof BROKEN)[number];
    return outcomeOf(await upload(name, broken(index)));
  }
  if (kind === 4) {
    await abort(name, samplePackage(100, 1000, index), ((index * 31) % 100) / 100);
    return 'aborted';
  }
  return outcomeOf(await upload(name, samplePackage(20 + (index % 200), 100 + ((index * 7) % 900), index)));
}
const upload = (name: string, archive: Bytes) =>
  ask(`${service.url}/datasets/upload`, { method: 'POST', body: uploadForm(archive, name) });

async function sendAll(
  prefix: string,
  count: number,
  disturb: (sent: number) => Promise<void>,
): Promise<Map<string, string>> {
  const outcomes = new Map<string, string>();
  let next = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (next < count) {
        const index = next++;
        const name = `${prefix} ${index}`;
        void disturb(index);
        outcomes.set(name, await send(name, index));
      }
    }),
  );
  return outcomes;
}

const connections = async (): Promise<number> =>
  (
    await file.database.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'svc-store'`,
    )
  )[0].n;

describe.runIf(process.platform === 'linux')('uploads, good, broken and aborted, 20 at a time', () => {
  it('are stored whole or not at all while the database restarts, and leave nothing behind', async (context) => {
    await sendAll('first', 100, async () => {});
    // what is read for the first time loads code
    for (const dataset of await listDatasets(service.url)) await verifyDataset(service.url, dataset);
    await delay(1000);
    const before = {
      ...(await holdingsOf(service.child.pid)),
      connections: await connections(),
      live: await liveMemoryOf(service),
    };

    const count = 500;
    let restarts = 0;
    let restarted = Promise.resolve();
    const outcomes = await sendAll('upload', count, async (sent) => {
      if (sent !== Math.floor(count / 3) && sent !== Math.floor((2 * count) / 3)) return;
      restarts += 1;
      restarted = restarted.then(() => file.database.restart());
    });
    await restarted;
    expect(restarts).toBe(2);

    const expected = [...outcomes].filter(([, outcome]) => outcome === '201').map(([name]) => name);
    const stored = (await listDatasets(service.url)).filter(({ name }) => name.startsWith('upload '));
    expect(stored.map(({ name }) => name).sort()).toEqual(expected.sort());
    const problems: string[] = [];
    for (const dataset of stored) problems.push(...(await verifyDataset(service.url, dataset)));
    expect(problems).toEqual([]);
    expect(await file.database.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);

    const seen = tally(outcomes.values());
    // those before the first restart; how many it refuses depends on how long it takes
    expect(seen['201']).toBeGreaterThan(count / 10);
    expect(
      Object.keys(seen).filter((outcome) => /^5/.test(outcome) && outcome !== '503 unavailable'),
    ).toEqual([]);
    expect(seen).not.toHaveProperty('no answer');

    await expect.poll(() => service.stagedFiles()).toEqual([]);
    await expect.poll(() => metricOf(service.url, 'svc_http_requests_in_progress')).toBe(1);
    await expect.poll(connections).toBeLessThanOrEqual(before.connections);
    await expect
      .poll(async () => {
        const { sockets, files } = await holdingsOf(service.child.pid);
        return sockets <= before.sockets && files <= before.files;
      })
      .toBe(true);
    const grownBytes = (await liveMemoryOf(service)) - before.live;
    // what the program keeps for itself; the uploads were some 30 MiB
    expect(grownBytes).toBeLessThan(4 * 1024 * 1024);

    report(context, {
      area: 'Uploads',
      scenario: 'valid, invalid and aborted uploads, 20 at a time, while the database restarts twice',
      expected:
        'every dataset with 201 is complete and has the correct hash; all others are absent; no resource is leaked',
      runs: outcomes.size,
      observed: seen,
    });
    report(context, {
      area: 'Uploads',
      scenario:
        'resources of the process afterwards: files, sockets, database connections, staging files, requests in progress',
      expected: 'no more than before',
      runs: 1,
      observed: { 'all as before': 1 },
    });
    report(context, {
      area: 'Uploads',
      scenario: 'memory of the process afterwards, after garbage collection',
      expected: 'at most 4 MiB more than before',
      runs: 1,
      observed: { [`${(grownBytes / 2 ** 20).toFixed(1)} MiB more`]: 1 },
    });
  }, 240_000);
});
