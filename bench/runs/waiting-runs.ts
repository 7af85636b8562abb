import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { writePackage } from '../generate.ts';
import { type Service, upload, watchProbe } from '../service.ts';
import { type SlowProvider, startSlowProvider } from './slow-provider.ts';

const RUNS = 16;
const ITEMS = 200;
const CONCURRENCY = 8;
const DELAY_MS = 2_000;
const LOOK_INTERVAL_MS = 10;
/** While the probes are watched: to look at runs is work too. */
const SLOW_LOOK_INTERVAL_MS = 200;

/** What runs that wait for their provider cost. */
export interface WaitingRuns {
  readonly runs: number;
  readonly items: number;
  /** What the concurrency of the runs allows, in seconds. */
  readonly ideal: number;
  /** What the runs took, and what a loop of bare requests with the same concurrency took. */
  readonly seconds: number;
  readonly bareSeconds: number;
  /** Milliseconds of the probes while the runs were in progress. */
  readonly probes: readonly { readonly path: string; readonly p99: number; readonly max: number }[];
  /** The longest time from a request to cancel to the end of the run, and to the end of its last request, in milliseconds. */
  readonly cancelMs: number;
  readonly abortMs: number;
}

/** Concurrent runs on a provider that takes two seconds for each response; then cancels as many, one after the other. */
export async function waitingRuns(bench: Bench): Promise<WaitingRuns> {
  const path = join(bench.folder, 'waiting.pkg.zip');
  await writePackage(path, ITEMS);
  await using provider = await startSlowProvider(DELAY_MS);
  const bareSeconds = await bareRequests(provider);
  await bench.empty();
  return await bench.withService(async (service) => {
    const { id } = await upload(service, path);
    const start = (index: number, limit = ITEMS): Promise<string> =>
      startRun(service, id, { provider, model: `model-${index}`, limit });
    // A service has worked before: its code is compiled, and its connections are open.
    const warm = Array.from({ length: RUNS }, (_, index) => start(RUNS + index, CONCURRENCY));
    for (const run of await Promise.all(warm)) await ended(service, run);
    let seconds = 0;
    const probes = await watchProbes(service, async () => {
      const startedAt = performance.now();
      const ids = await Promise.all(Array.from({ length: RUNS }, (_, index) => start(index)));
      for (const run of ids) await ended(service, run, SLOW_LOOK_INTERVAL_MS);
      seconds = (performance.now() - startedAt) / 1000;
    });
    return {
      ...{ runs: RUNS, items: ITEMS, ideal: (ITEMS / CONCURRENCY) * (DELAY_MS / 1000) },
      ...{ seconds, bareSeconds, probes },
      ...(await cancelTimes(service, provider, start)),
    };
  });
}

async function bareRequests({ baseUrl }: SlowProvider): Promise<number> {
  let left = RUNS * ITEMS;
  const startedAt = performance.now();
  const request = JSON.stringify({
    model: 'bare',
    messages: [{ role: 'user', content: 'What is 6 times 7?' }],
  });
  const loop = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const response = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body: request });
      await response.json();
    }
  };
  await Promise.all(Array.from({ length: RUNS * CONCURRENCY }, loop));
  return (performance.now() - startedAt) / 1000;
}

async function watchProbes(service: Service, work: () => Promise<void>): Promise<WaitingRuns['probes']> {
  const working = work();
  const measured = ['/healthz', '/readyz'].map(async (path) => ({
    path,
    ...(await watchProbe(service, path, () => working)),
  }));
  return await Promise.all(measured);
}

/** Cancels runs whose requests all wait. */
async function cancelTimes(
  service: Service,
  provider: SlowProvider,
  start: (index: number) => Promise<string>,
): Promise<Pick<WaitingRuns, 'cancelMs' | 'abortMs'>> {
  const indexes = Array.from({ length: RUNS }, (_, index) => 2 * RUNS + index);
  const ids = await Promise.all(indexes.map((index) => start(index)));
  let cancelMs = 0;
  let abortMs = 0;
  for (const [position, id] of ids.entries()) {
    const model = `model-${indexes[position]}`;
    while (provider.waiting(model) < CONCURRENCY) await sleep(LOOK_INTERVAL_MS);
    const startedAt = performance.now();
    await fetch(`${service.url}/runs/${id}/cancel`, { method: 'POST' });
    const aborted = (async () => {
      while (provider.waiting(model) > 0) await sleep(1);
      abortMs = Math.max(abortMs, performance.now() - startedAt);
    })();
    await ended(service, id);
    cancelMs = Math.max(cancelMs, performance.now() - startedAt);
    await aborted;
  }
  return { cancelMs, abortMs };
}

async function startRun(
  { url }: Service,
  datasetId: string,
  {
    provider,
    model,
    limit,
  }: { readonly provider: SlowProvider; readonly model: string; readonly limit: number },
): Promise<string> {
  const config = {
    provider: { type: 'openai_compatible', base_url: provider.baseUrl, model },
    select: { limit },
    ...{ concurrency: CONCURRENCY, allow_unscored: true },
  };
  const response = await fetch(`${url}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ dataset_id: datasetId, config }),
  });
  const run = (await response.json()) as { readonly id: string };
  if (response.status !== 202) throw new Error(`The run did not start: ${JSON.stringify(run)}`);
  return run.id;
}

async function ended({ url }: Service, id: string, intervalMs = LOOK_INTERVAL_MS): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/runs/${id}`);
    const run = (await response.json()) as {
      readonly status: string;
      readonly counts: { readonly failed: number };
    };
    if (run.counts.failed > 0 || run.status === 'failed')
      throw new Error(`The run failed: ${JSON.stringify(run)}`);
    if (run.status === 'completed' || run.status === 'cancelled') return;
    await sleep(intervalMs);
  }
}
