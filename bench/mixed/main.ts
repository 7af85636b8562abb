/**
 * `node bench/mixed/main.ts [--reads 8000] [--uploads 200] [--runs 8] [--rounds 1]`
 *
 * The same load on one API and one worker, on four of each, and on four of each with a streaming replica, in turn; prints
 * when the last read and the last upload ended, and the CPU time of every kind of process. Needs an installed PostgreSQL
 * (`pg_basebackup`) and the built service.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runService, type ServiceProcess } from '../../apps/standalone/test/faults/run-service.ts';
import { startFakeProvider } from '../../apps/worker/test/fake-provider.ts';
import { runWorker } from '../../apps/worker/test/run-worker.ts';
import { type ClusterServer, NO_CLUSTER, startCluster } from '../../prisma/test/postgres-cluster.ts';
import { cpuSeconds } from './cpu-seconds.ts';
import { type Amounts, mixedLoad } from './mixed-load.ts';

const { values: options } = parseArgs({
  options: {
    reads: { type: 'string', default: '8000' },
    uploads: { type: 'string', default: '200' },
    runs: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '1' },
  },
});
const amounts: Amounts = {
  reads: Number(options.reads),
  uploads: Number(options.uploads),
  runs: Number(options.runs),
};
if (NO_CLUSTER !== undefined) throw new Error(NO_CLUSTER);

console.log(
  '| processes | last read | last upload | CPU of APIs | workers | primary | replica | of that replay |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (let round = 0; round < Number(options.rounds); round += 1) {
  console.log(await measure(1, false));
  console.log(await measure(4, false));
  console.log(await measure(4, true));
}
process.exit(0);

async function measure(count: number, hasReplica: boolean): Promise<string> {
  await using cleanUp = new AsyncDisposableStack();
  const cluster = cleanUp.use(await startCluster());
  const replica = hasReplica ? await cluster.startReplica() : null;
  const provider = cleanUp.use(await startFakeProvider((prompt) => ({ text: prompt, delayMs: 5 })));
  const env = {
    DATABASE_URL: cluster.primary.url,
    ...(replica === null ? {} : { DATABASE_READ_URL: replica.url }),
    SVC_DATABASE_POOL_SIZE: '8',
    SVC_JOB_KEY: 'deployment secret of the benchmark',
  };
  const newFolder = async (): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-mixed-'));
    cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
    return folder;
  };
  const apis: ServiceProcess[] = [];
  const workers: { readonly child: { readonly pid?: number | undefined } }[] = [];
  for (let number = 0; number < count; number += 1) {
    apis.push(cleanUp.use(await runService({ app: 'api', dataDir: await newFolder(), env })));
    workers.push(cleanUp.use(await runWorker({ ...env, SVC_DATA_DIR: await newFolder() })));
  }
  for (const api of hasReplica ? apis : []) {
    while (!api.log().some(({ event }) => event === 'replica.current')) {
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  const urls = apis.map(({ url }) => url);
  // Each process compiles its code with the first requests.
  await mixedLoad(urls, provider.baseUrl, { reads: 100 * count, uploads: 10 * count, runs: count });

  const processes = {
    apis: apis.map(({ child }) => child.pid ?? 0),
    workers: workers.map(({ child }) => child.pid ?? 0),
    primary: [await postmasterOf(cluster.primary)],
    replica: replica === null ? [] : [await postmasterOf(replica)],
  };
  const look = (): readonly number[] => [
    ...Object.values(processes).map((pids) => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)),
    processes.replica.reduce((sum, pid) => sum + cpuSeconds(pid, /startup/), 0),
  ];
  const before = look();
  const times = await mixedLoad(urls, provider.baseUrl, amounts);
  const spent = look().map((seconds, index) => `${(seconds - (before[index] ?? 0)).toFixed(1)} s`);
  const label = `${count} API${count > 1 ? 's' : ''}, ${count} worker${count > 1 ? 's' : ''}${hasReplica ? ', a replica' : ''}`;
  return `| ${[label, `${times.reads.toFixed(1)} s`, `${times.uploads.toFixed(1)} s`, ...spent].join(' | ')} |`;
}

async function postmasterOf(server: ClusterServer): Promise<number> {
  const [row] = await server.query("SELECT pg_read_file('postmaster.pid') AS text");
  return Number(row.text.split('\n')[0]);
}
