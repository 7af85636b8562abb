import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

type LogLine = Record<string, unknown>;

/** A process of the service that runs from a deployed folder. */
export interface DeployedApp extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  /** every log line so far, parsed */
  readonly log: readonly LogLine[];
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Asks the process by HTTP; the answer's body as JSON where it is that. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  ask(path: string, body?: object | FormData): Promise<any>;
}

type Env = Readonly<Record<string, string>>;

const NODE_ENV: Env = { PATH: '/usr/bin:/bin', HUB_ENDPOINT: 'http://127.0.0.1:9' };

/** Starts an app by plain Node; rejects with what it printed when it ends before it has started. */
export async function startDeployedApp(folder: string, env: Env): Promise<DeployedApp> {
  const child = spawn(process.execPath, ['dist/main.js'], {
    cwd: folder,
    env: { ...NODE_ENV, SVC_PORT: '0', SVC_WORKER_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: LogLine[] = [];
  const started = Promise.withResolvers<LogLine>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const parsed = JSON.parse(line) as LogLine;
    log.push(parsed);
    if (parsed['event'] === 'server.start') started.resolve(parsed);
  });
  const stderr = text(child.stderr);
  const ended = once(child, 'exit') as Promise<[number | null]>;
  void ended.then(async () => started.reject(new Error(`${folder} ended at once: ${await stderr}`)));
  const { port } = await started.promise;
  const url = `http://127.0.0.1:${port}`;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return (await ended)[0];
  };
  return {
    url,
    child,
    log,
    end,
    async ask(path, body) {
      const isForm = body instanceof FormData;
      const response = await fetch(`${url}${path}`, {
        ...(body === undefined ? {} : { method: 'POST', body: isForm ? body : JSON.stringify(body) }),
        headers: body === undefined || isForm ? {} : { 'content-type': 'application/json' },
      });
      const answer = Buffer.from(await response.arrayBuffer());
      const isJson = response.headers.get('content-type')?.includes('json') === true;
      return isJson && !path.endsWith('.jsonl') ? JSON.parse(answer.toString('utf8')) : answer;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) await end('SIGKILL');
    },
  };
}

/** Runs the deployed command line to its end. */
export async function runDeployedCli(
  folder: string,
  argv: readonly string[],
  env: Env = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(folder, 'dist/main.js'), ...argv], {
    cwd: folder,
    env: { ...NODE_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}
