import type { Bench } from './bench.ts';
import { type Comparison, load, startComparison } from './http-load.ts';
import { type Measured, measure, type Sample } from './measure.ts';
import { upload } from './service.ts';

interface HttpCase {
  readonly name: string;
  readonly path: string;
  readonly server: Parameters<typeof startComparison>[0];
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
  {
    name: 'requests per second on /datasets, 20 of them stored',
    path: '/datasets',
    server: 'datasets',
    baseline: 'bare Express 5 that answers with the same rows from the same store',
  },
];

/** What our layers cost a request: id, context, log lines, metrics, security headers, keys. */
export async function httpCases(bench: Bench, small: string, rounds: number): Promise<Measured[]> {
  await bench.empty();
  return await bench.withService(async (service) => {
    for (let index = 0; index < 20; index += 1) await upload(service, small);
    const measured: Measured[] = [];
    for (const { path, server, ...rest } of CASES) {
      const comparison: Comparison = await startComparison(server, bench);
      try {
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
      } finally {
        await comparison.stop();
      }
    }
    return measured;
  });
}
