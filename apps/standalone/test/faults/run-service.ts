import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { counted } from '../../../../tools/vitest/costs.ts';
import { happened } from '../../../../tools/vitest/until.ts';

export type LogLine = Readonly<Record<string, unknown>>;

/** A built service that runs as a separate process. */
export interface ServiceProcess extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  /** every line of standard output so far, as it came */
  readonly lines: readonly string[];
  /** The same, parsed; throws for a line that is not JSON. */
  readonly log: () => LogLine[];
  readonly stderr: () => string;
  /** exit code, or null after a signal */
  readonly ended: Promise<number | null>;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  readonly hasEnded: () => boolean;
  /** Names of the staging files. */
  readonly stagedFiles: () => Promise<string[]>;
}

export interface ServiceOptions {
  readonly app: 'api' | 'standalone' | 'worker';
  readonly dataDir?: string;
  /** what an operator would set */
  readonly env?: Readonly<Record<string, string>>;
  /** a shell command before it, such as `ulimit -f 100` */
  readonly limits?: string;
  readonly nodeArguments?: readonly string[];
}

const MAIN = {
  api: fileURLToPath(new URL('../../../api/dist/main.js', import.meta.url)),
  standalone: fileURLToPath(new URL('../../dist/main.js', import.meta.url)),
  worker: fileURLToPath(new URL('../../../worker/dist/main.js', import.meta.url)),
};

/** As `npm start`, the images and the systemd units do. */
const NODE_ARGUMENTS = ['--max-semi-space-size=4', '--initial-old-space-size=64'];
const GLIBC_TUNABLES =
  'glibc.malloc.arena_max=2:glibc.malloc.mmap_threshold=524288:glibc.malloc.trim_threshold=1048576';

/** Starts a built service or worker on a free port; rejects with what it printed when it ends before it has started. */
export async function runService(options: ServiceOptions): Promise<ServiceProcess> {
  const { app, dataDir, env = {}, limits, nodeArguments = [] } = options;
  const command = [process.execPath, ...NODE_ARGUMENTS, ...nodeArguments, MAIN[app]];
  const [program = '', ...rest] =
    limits === undefined ? command : ['bash', '-c', `${limits}; exec "$@"`, 'bash', ...command];
  const child = spawn(program, rest, {
    env: {
      PATH: process.env['PATH'] ?? '',
      GLIBC_TUNABLES,
      SVC_PORT: '0',
      SVC_WORKER_PORT: '0',
      ...(dataDir === undefined ? {} : { SVC_DATA_DIR: dataDir }),
      // what tests say that write their requests byte by byte
      SVC_ALLOWED_HOSTS: 'x',
      // nothing listens there: no test leaves the machine
      HUB_ENDPOINT: 'http://127.0.0.1:9',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  counted('processes');
  const lines: string[] = [];
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const started = Promise.withResolvers<LogLine>();
  const printed = createInterface({ input: child.stdout }).on('line', (text) => {
    lines.push(text);
    happened();
    if (text.includes('"event":"server.start"')) started.resolve(JSON.parse(text));
  });
  let over = false;
  const ended = endOfProcess(child, printed).then((code) => {
    over = true;
    started.reject(new Error(`the service ended with ${code} before it had started: ${stderr}`));
    return code;
  });
  const { port } = await started.promise;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return await ended;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    lines,
    log: () => lines.map((line) => JSON.parse(line) as LogLine),
    stderr: () => stderr,
    ended,
    end,
    hasEnded: () => over,
    stagedFiles: () => filesBelow(join(dataDir ?? '', 'spool')),
    [Symbol.asyncDispose]: async () => {
      if (!over) await end('SIGKILL');
    },
  };
}

/** Another process may hold the pipe for longer. */
const READ_MS = 5_000;

/**
 * The end of a process: its exit code, once its last lines are read, which may come after its exit. Rejects when it
 * cannot be started.
 *
 * @param lines of its standard output
 */
async function endOfProcess(child: ChildProcess, lines: Interface): Promise<number | null> {
  const read = once(lines, 'close');
  const [code] = (await once(child, 'exit')) as [number | null];
  await Promise.race([read, delay(READ_MS, undefined, { ref: false })]);
  return code;
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** What a process holds, as Linux tells it. */
export interface Holdings {
  readonly rssBytes: number;
  readonly files: number;
  readonly sockets: number;
}

export async function holdingsOf(pid: number | undefined): Promise<Holdings> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  );
  return {
    rssBytes: kib * 1024,
    files: links.filter((link) => link.startsWith('/')).length,
    sockets: links.filter((link) => link.startsWith('socket:')).length,
  };
}

/** Value of a metric's sample, or the sum of those of its labels. */
export async function metricOf(
  url: string,
  name: string,
  headers: Record<string, string> = {},
): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
