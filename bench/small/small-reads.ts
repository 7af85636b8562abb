import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench.ts';
import { startEchoRun } from '../console/start-echo-run.ts';
import { writePackage } from '../generate.ts';
import { load, startServer } from '../http-load.ts';
import { type Measured, measure } from '../measure.ts';
import { type Service, upload } from '../service.ts';

/** Datasets in the list, and entries of a page. */
const DATASETS = 50;
/** Items from the end at which a deep page begins. */
const DEEP_ITEMS = 200;
/** Results of the run that is listed, and items of the dataset that is searched: a search of more takes seconds. */
const RESULTS = 10_000;

interface Read {
  readonly name: string;
  readonly path: string;
  readonly baseline: string;
  /** The path of the baseline, of the service itself unless `isPlain`. */
  readonly against: string;
  readonly isPlain?: boolean;
  readonly target?: number;
}

/** Pages, look-ups and searches, against the same query in a bare Express, or against the first page. */
export async function smallReadCases(bench: Bench, size: number, rounds: number): Promise<Measured[]> {
  const { folder, psql } = bench;
  await bench.empty();
  const [few, many] = [join(folder, 'ten.pkg.zip'), join(folder, 'many.pkg.zip')];
  await writePackage(few, 10);
  await writePackage(many, size);
  const results = join(folder, 'results.pkg.zip');
  await writePackage(results, RESULTS);
  return await bench.withService(async (service) => {
    for (let index = 2; index < DATASETS; index += 1) await upload(service, few);
    const { id } = await upload(service, many);
    const searched = (await upload(service, results)).id;
    const run = await startEchoRun(service.url, searched);
    await bench.prepareLookUps();
    await bench.analyze();
    await using plain = await startServer({
      file: fileURLToPath(new URL('../http-servers.ts', import.meta.url)),
      args: ['reads'],
      log: join(folder, 'reads.log'),
      databaseUrl: psql.PGURL,
    });
    const measured: Measured[] = [];
    for (const { name, path, baseline, against, isPlain = false, target } of await readsOf(service, {
      id,
      searched,
      run,
      size,
    })) {
      const ours = (): ReturnType<typeof load> => load(service.url + path);
      const theirs = (): ReturnType<typeof load> => load((isPlain ? plain.url : service.url) + against);
      await ours();
      await theirs();
      const one = { name, baseline, runOurs: ours, runBaseline: theirs, higherIsBetter: isPlain };
      measured.push(await measure({ ...one, ...(target === undefined ? {} : { target }) }, rounds));
    }
    return measured;
  });
}

async function readsOf(
  service: Service,
  {
    id,
    searched,
    run,
    size,
  }: Readonly<Record<'id' | 'searched' | 'run', string>> & { readonly size: number },
): Promise<readonly Read[]> {
  const items = `/datasets/${id}/items?limit=50`;
  const first = { baseline: 'the first page of 50', against: items };
  const response = await fetch(`${service.url}/datasets/${id}/items?from=0-${size - DEEP_ITEMS}&limit=50`);
  const page = (await response.json()) as {
    readonly data: readonly { readonly item_hash: string }[];
    readonly meta: { readonly next_cursor: string };
  };
  const label = size.toLocaleString('en');
  const plain = {
    isPlain: true,
    target: 0.9,
    baseline: 'bare Express 5 with the same query of the same store',
  };
  return [
    {
      name: 'requests per second on /datasets of 50',
      path: '/datasets?limit=50',
      against: '/datasets',
      ...plain,
    },
    {
      name: 'requests per second on a page of 50 items',
      ...{ path: items, against: `/items?id=${id}`, ...plain },
    },
    {
      name: 'requests per second of a search for datasets, all of which match',
      ...{ path: '/datasets?limit=50&q=BENCH', against: '/datasets?q=BENCH', ...plain },
    },
    {
      name: `requests per second of a search among ${RESULTS.toLocaleString('en')} items`,
      ...{
        path: `/datasets/${searched}/items?limit=50&q=q1`,
        against: `/items?id=${searched}&q=q1`,
        ...plain,
      },
    },
    {
      name: 'requests per second on 50 results of a run',
      ...{ path: `/runs/${run}/results?limit=50`, against: `/results?id=${run}`, ...plain },
    },
    {
      name: `page of 50 items at the end of ${label}`,
      path: `${items}&cursor=${encodeURIComponent(page.meta.next_cursor)}`,
      ...{ ...first, target: 1.2 },
    },
    {
      name: `item_hash look-up among ${label}`,
      path: `${items}&item_hash=${page.data[0]?.item_hash}`,
      ...{ ...first, target: 1.2 },
    },
  ];
}
