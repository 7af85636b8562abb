import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import autocannon from 'autocannon';
import type { Sample } from './measure.ts';

const CONNECTIONS = 20;
const SECONDS = 4;

/** What is sent besides the URL; a GET without it. */
interface RequestParts {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Record<string, string>;
  readonly body?: Buffer;
}

/** Seconds for one request, over as many as fit into a few seconds on 20 connections. */
export async function load(url: string, parts: RequestParts = {}): Promise<Sample> {
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SECONDS, ...parts });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx + result.errors} requests failed`);
  return { seconds: result.duration / result['2xx'] };
}

export interface Comparison extends AsyncDisposable {
  readonly url: string;
}

/** Starts a server as a process, which prints its port; what it logs goes into a file, as the service's log does. */
export async function startServer(server: {
  readonly file: string;
  readonly args?: readonly string[];
  readonly log: string;
  readonly databaseUrl: string;
}): Promise<Comparison> {
  const log = openSync(server.log, 'w');
  const child: ChildProcess = spawn(process.execPath, [server.file, ...(server.args ?? [])], {
    stdio: ['ignore', log, 'pipe'],
    env: { ...process.env, DATABASE_URL: server.databaseUrl },
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${server.file} did not start`)));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const found = /port (\d+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
