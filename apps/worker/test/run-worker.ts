import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endOfProcess } from '../../../prisma/test/end-of-process.ts';
import type { LogLine } from './start-test-service.ts';

export interface WorkerProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  /** of its health and metrics endpoints */
  readonly url: string;
  /** every log line so far, parsed */
  readonly log: LogLine[];
  readonly stderr: () => string;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** Starts the built worker as a separate process; rejects with its output if it ends before it has started. */
export async function runWorker(env: Readonly<Record<string, string>>): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'] ?? '',
      SVC_WORKER_PORT: '0',
      HUB_ENDPOINT: 'http://127.0.0.1:9',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: LogLine[] = [];
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const started = Promise.withResolvers<LogLine>();
  const printed = createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as LogLine;
    log.push(line);
    if (line['event'] === 'server.start') started.resolve(line);
  });
  const ended = endOfProcess(child, printed);
  void ended.then((code) =>
    started.reject(new Error(`the worker ended with ${code} before it had started: ${stderr}`)),
  );
  const { port } = await started.promise;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return await ended;
  };
  return {
    child,
    url: `http://127.0.0.1:${port}`,
    log,
    stderr: () => stderr,
    end,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) await end('SIGKILL');
    },
  };
}
