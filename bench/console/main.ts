/**
 * `node bench/console/main.ts [--items 1000000] [--results 10000]`
 *
 * Opens the console of the built service in a real browser: a large dataset, and a run with many results. Prints each figure with its target.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { startEmbeddedPostgres } from '../../apps/standalone/src/embedded-postgres/start-embedded-postgres.ts';
import { findChromium, NO_CHROMIUM } from '../../tools/browser/find-chromium.ts';
import { writePackage } from '../generate.ts';
import { startService, upload } from '../service.ts';
import { measureFilter } from './measure-filter.ts';
import { measureList } from './measure-list.ts';
import { startEchoRun } from './start-echo-run.ts';

const { values: options } = parseArgs({
  options: {
    items: { type: 'string', default: '1000000' },
    results: { type: 'string', default: '10000' },
  },
});
const found = await findChromium();
if (found === null) throw new Error(NO_CHROMIUM);

await using cleanUp = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'svc-bench-console-'));
cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
const postgres = cleanUp.use(await startEmbeddedPostgres({ dataDir: folder }));
const service = await startService(postgres.url, folder);
cleanUp.defer(() => service.stop());
const datasetOf = async (count: number): Promise<string> => {
  const path = join(folder, `${count}.pkg.zip`);
  await writePackage(path, count);
  return (await upload(service, path)).id;
};
const long = await datasetOf(Number(options.items));
const dataset = await datasetOf(Number(options.results));
const run = await startEchoRun(service.url, dataset);

const browser = await chromium.launch({ executablePath: found.executablePath, args: [...found.args] });
cleanUp.defer(() => browser.close());
const list = await measureList(browser, service.url, long, Number(options.items));
const filter = await measureFilter(browser, service.url, run);
const figures: (readonly [string, string, string])[] = [
  [`list of ${options.items} items, opened from the datasets`, `${list.openedMs} ms`, '≤ 1,000 ms'],
  ['the same page, loaded again', `${list.loadedMs} ms`, ''],
  ['largest heap, to the end of the list and back', `${list.heapMb} MB`, '< 150 MB'],
  ['requests for items on the way', String(list.requests), ''],
  [`filter ${options.results} results, after the response`, `${filter.shownMs} ms`, '≤ 200 ms'],
  ['the same, with the response', `${filter.wholeMs} ms`, ''],
];
for (const [name, value, target] of figures) console.log(`| ${name} | ${value} | ${target} |`);
