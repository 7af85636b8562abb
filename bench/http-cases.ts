import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench } from './bench.ts';
import { load, startServer } from './http-load.ts';
import { type Measured, measure, type Sample } from './measure.ts';

interface HttpCase {
  readonly name: string;
  readonly path: string;
  readonly server: 'bare' | 'middleware';
  readonly baseline: string;
}

const CASES: readonly HttpCase[] = [
  {
    name: 'requests per second on /healthz',
    path: '/healthz',
    server: 'bare',
    baseline: 'bare Express 5',
  },
  {
    name: 'the same',
    path: '/healthz',
    server: 'middleware',
    baseline: 'Express with pino-http and express-prom-bundle',
  },
];

/** What our layers cost a request: id, context, log lines, metrics, security headers, keys. */
export async function httpCases(bench: Bench, rounds: number): Promise<Measured[]> {
  await bench.empty();
  return await bench.withService(async (service) => {
    const measured: Measured[] = [];
    for (const { path, server, ...rest } of CASES) {
      await using comparison = await startServer({
        file: fileURLToPath(new URL('http-servers.ts', import.meta.url)),
        args: [server],
        log: join(bench.folder, `${server}.log`),
        databaseUrl: bench.psql.PGURL,
      });
      await load(service.url + path);
      await load(comparison.url + path);
      measured.push(
        await measure(
          {
            ...rest,
            higherIsBetter: true,
            runOurs: (): Promise<Sample> => load(service.url + path),
            runBaseline: (): Promise<Sample> => load(comparison.url + path),
          },
          rounds,
        ),
      );
    }
    return measured;
  });
}
