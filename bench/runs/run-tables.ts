import type { Bench } from '../bench.ts';
import { insertRuns } from './insert-runs.ts';
import { queryTimes } from './query-times.ts';

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
