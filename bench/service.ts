import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openAsBlob, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { shell } from './shell.ts';

export interface Service {
  readonly url: string;
  /** Most memory that the process has held so far; 0 where the system does not say. */
  readonly peakBytes: () => number;
  readonly stop: () => Promise<void>;
}

/** As `npm start` does. */
const NODE_ARGUMENTS = ['--max-semi-space-size=4', '--initial-old-space-size=64'];
const GLIBC_TUNABLES =
  'glibc.malloc.arena_max=2:glibc.malloc.mmap_threshold=524288:glibc.malloc.trim_threshold=1048576';
const MAIN = fileURLToPath(new URL('../apps/standalone/dist/main.js', import.meta.url));
const LOOK_INTERVAL_MS = 50;
const PAGES = 100;

/**
 * Starts the built service as a separate process on the given database; its log goes to a file.
 *
 * @param main the program, by default the one that is the service as a whole
 */
export async function startService(
  databaseUrl: string,
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  main: string = MAIN,
): Promise<Service> {
  const log = join(dataDir, 'service.log');
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, main], {
    env: {
      PATH: process.env['PATH'] ?? '',
      GLIBC_TUNABLES,
      DATABASE_URL: databaseUrl,
      SVC_PORT: '0',
      SVC_WORKER_PORT: '0',
      SVC_DATA_DIR: dataDir,
      SVC_LOG_LEVEL: 'info',
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('SVC_'))),
      ...env,
    },
    stdio: ['ignore', openSync(log, 'w'), 'ignore'],
  });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  let port: string | undefined;
  while (port === undefined) {
    if (child.exitCode !== null) throw new Error(`the service did not start: ${readFileSync(log, 'utf8')}`);
    await sleep(LOOK_INTERVAL_MS);
    port = /"event":"server\.start".*?"port":(\d+)/.exec(readFileSync(log, 'utf8'))?.[1];
  }
  return {
    url: `http://127.0.0.1:${port}`,
    peakBytes: () => peakOf(child),
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function peakOf({ pid }: ChildProcess): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Uploads a package and returns the dataset of the response. */
export async function upload(service: Service, path: string): Promise<{ id: string; item_count: number }> {
  const form = new FormData();
  form.append('file', await openAsBlob(path), 'bench.pkg.zip');
  const response = await fetch(`${service.url}/datasets/upload`, { method: 'POST', body: form });
  if (response.status !== 201)
    throw new Error(`upload answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as { id: string; item_count: number };
}

/** Uploads a file by curl, which takes little of the machine. @param fields of the form besides the file */
export async function uploadByCurl(
  service: Service,
  path: string,
  {
    fileName = 'bench.pkg.zip',
    fields = {},
  }: { fileName?: string; fields?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const form = Object.entries(fields).map(([name, value]) => `-F '${name}=${value}'`);
  const file = `-F 'file=@${path};filename=${fileName}'`;
  await shell(`curl -sS --fail-with-body ${form.join(' ')} ${file} ${service.url}/datasets/upload`);
}

async function get(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response;
}

/** Reads a response to its end. */
export async function drain(url: string): Promise<void> {
  for await (const _ of (await get(url)).body ?? []);
}

/** Reads the first pages of a dataset, each from the cursor of the one before. @param dataset its URL */
export async function readPages(dataset: string): Promise<void> {
  let next = `${dataset}/items?limit=50`;
  for (let page = 0; page < PAGES && next !== ''; page += 1) {
    const { meta } = (await (await get(next)).json()) as { meta: { next_cursor: string | null } };
    const cursor = meta.next_cursor;
    next = cursor === null ? '' : `${dataset}/items?limit=50&cursor=${encodeURIComponent(cursor)}`;
  }
}

/** The longest and the typical time that a probe takes to answer while `work` runs, in milliseconds. */
export async function watchProbe(
  service: Service,
  path: string,
  work: () => Promise<unknown>,
): Promise<{ max: number; p99: number }> {
  // What this process does for the work must not delay the probe.
  const worker = new Worker(new URL('probe-thread.ts', import.meta.url), {
    workerData: { url: `${service.url}${path}` },
  });
  const said = once(worker, 'message') as Promise<[number[]]>;
  try {
    await work();
  } finally {
    worker.postMessage('end');
  }
  const [times] = await said;
  times.sort((a, b) => a - b);
  return { max: times.at(-1) ?? 0, p99: times[Math.floor(times.length * 0.99)] ?? 0 };
}
