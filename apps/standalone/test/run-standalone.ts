import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endOfProcess } from '../../../prisma/test/end-of-process.ts';

export interface RunningStandalone {
  readonly url: string;
  readonly child: ChildProcess;
  /** every log line so far, parsed */
  readonly log: Record<string, unknown>[];
  /** what was written for people */
  readonly stderr: () => string;
  /** Sends a signal and waits for the end. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
  /** Waits for a log line. */
  readonly logged: (matches: (line: Record<string, unknown>) => boolean) => Promise<void>;
}

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** Starts the built service as a separate process on a free port; rejects with its output if it ends first. */
export async function runStandalone(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningStandalone> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'] ?? '',
      SVC_PORT: '0',
      SVC_WORKER_PORT: '0',
      SVC_DATA_DIR: dataDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: Record<string, unknown>[] = [];
  const listeners = new Set<(line: Record<string, unknown>) => void>();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const printed = createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as Record<string, unknown>;
    log.push(line);
    for (const listener of listeners) listener(line);
  });
  const logged = (matches: (line: Record<string, unknown>) => boolean): Promise<void> =>
    new Promise((resolve) => {
      if (log.some(matches)) return resolve();
      const listener = (line: Record<string, unknown>): void => {
        if (!matches(line)) return;
        listeners.delete(listener);
        resolve();
      };
      listeners.add(listener);
    });
  const ended = endOfProcess(child, printed);
  const started = logged((line) => line['event'] === 'server.start');
  await Promise.race([
    started,
    ended.then(() => {
      throw new Error(`the service ended before it had started: ${stderr}`);
    }),
  ]);
  const { port } = log.find((line) => line['event'] === 'server.start') as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    log,
    stderr: () => stderr,
    logged,
    end: async (signal) => {
      child.kill(signal);
      return await ended;
    },
  };
}
