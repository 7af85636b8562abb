import type { Bench } from '../bench.ts';
import { insertRuns } from './insert-runs.ts';
import { queryTimes } from './query-times.ts';
import { waitingRuns } from './waiting-runs.ts';

/** What a request on a large run may take, unless its answer is stored. */
const TARGET_MS = 1_000;

/** Times requests on a run with this many results, as rows of a table. */
export async function* resultsTable(bench: Bench, results: number): AsyncGenerator<string> {
  await bench.empty();
  const runs = await insertRuns(bench, results);
  await bench.prepareLookUps();
  yield '';
  yield `| request on a run of ${results.toLocaleString('en')} results | found | first | longest of three more | target | met |`;
  yield '|---|---|---|---|---|---|';
  for (const { label, totalItems, firstMs, againMs } of await bench.withService((service) =>
    Array.fromAsync(queryTimes(service, runs)),
  )) {
    const total = totalItems === undefined ? '' : totalItems.toLocaleString('en');
    const met = againMs < TARGET_MS ? 'yes' : 'no';
    yield `| ${label} | ${total} | ${firstMs.toFixed(0)} ms | ${againMs.toFixed(0)} ms | < ${TARGET_MS} ms | ${met} |`;
  }
}

/** Runs that wait for their provider, as a table. */
export async function waitingTable(bench: Bench): Promise<readonly string[]> {
  const found = await waitingRuns(bench);
  const { runs, items, ideal, seconds, bareSeconds, probes, cancelMs, abortMs } = found;
  const row = (what: string, value: string, target: string, isMet: boolean | null): string =>
    `| ${what} | ${value} | ${target} | ${isMet === null ? '' : isMet ? 'yes' : 'no'} |`;
  return [
    '',
    `| ${runs} runs of ${items} items, provider that takes 2 s | | target | met |`,
    '|---|---|---|---|',
    row('total, of what the concurrency allows', ratio(seconds, ideal), '≤ 1.2', seconds <= ideal * 1.2),
    row('the same of a loop of bare requests', ratio(bareSeconds, ideal), '', null),
    ...probes.map(({ path, p99, max }) =>
      row(
        `${path}: 99th percentile, maximum`,
        `${p99.toFixed(1)} ms, ${max.toFixed(1)} ms`,
        '< 50 ms',
        max < 50,
      ),
    ),
    row(
      'cancel: until the run has ended, longest of 16',
      `${cancelMs.toFixed(0)} ms`,
      '< 250 ms',
      cancelMs < 250,
    ),
    row('cancel: until its requests are aborted', `${abortMs.toFixed(0)} ms`, '< 250 ms', abortMs < 250),
  ];
}

const ratio = (seconds: number, ideal: number): string =>
  `${(seconds / ideal).toFixed(2)} (${seconds.toFixed(1)} s of ${ideal.toFixed(1)} s)`;
