import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import type { Bench } from './bench.ts';
import type { Sample } from './measure.ts';

const CONNECTIONS = 20;
const SECONDS = 4;

/** Seconds for one request, over as many as fit into a few seconds on 20 connections. */
export async function load(url: string): Promise<Sample> {
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SECONDS });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx + result.errors} requests failed`);
  return { seconds: result.duration / result['2xx'] };
}

export interface Comparison {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Starts one of the servers of `http-servers.ts`; what it logs goes into a file, as the service's log does. */
export async function startComparison(
  kind: 'bare' | 'middleware' | 'datasets',
  { folder, psql }: Bench,
): Promise<Comparison> {
  const log = openSync(join(folder, `${kind}.log`), 'w');
  const child: ChildProcess = spawn(
    process.execPath,
    [fileURLToPath(new URL('http-servers.ts', import.meta.url)), kind],
    { stdio: ['ignore', log, 'pipe'], env: { ...process.env, DATABASE_URL: psql.PGURL } },
  );
  const port = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the ${kind} server did not start`)));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const found = /port (\d+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
