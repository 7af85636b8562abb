/**
 * `npm run bench -- [--sizes 10000,100000,1000000] [--cases upload,export] [--rounds 3] [--write]`
 *
 * Generates its data, runs each case and its baseline in turn, and prints ratios; `--write` puts the table into
 * bench/README.md with a description of the machine.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { encodeItem, readItems } from '@svc/jsonl-v23';
import { convertLegacyFile } from '@svc/pkg-format/node';
import { migrate, startEmbeddedPostgres } from '@svc/store';
import { itemLines, writePackage } from './generate.ts';
import { load, startComparison } from './http-load.ts';
import { hubCase } from './hub-import.ts';
import { type Case, type Measured, measure, type Sample, timed } from './measure.ts';
import { type Service, startService, upload, watchHealth } from './service.ts';
import { hasPrograms, shell } from './shell.ts';

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,100000,1000000' },
    cases: { type: 'string', default: 'read,encode,upload,export,convert,hub,http' },
    rounds: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
});
const sizes = options.sizes.split(',').map(Number);
const wanted = new Set(options.cases.split(','));
const rounds = Number(options.rounds);

await using cleanUp = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
const postgres = cleanUp.use(await startEmbeddedPostgres({ dataDir: folder }));
await migrate(postgres.url);
const psql = { PGURL: postgres.url };

/** One value a line, whatever it holds: no quote and no delimiter that JSON can contain. */
const RAW_LINES = `(FORMAT csv, QUOTE e'\\x01', DELIMITER e'\\x02')`;

async function withService<T>(
  use: (service: Service) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  await mkdir(join(folder, 'service'), { recursive: true });
  const service = await startService(postgres.url, join(folder, 'service'), env);
  try {
    return await use(service);
  } finally {
    await service.stop();
  }
}

async function sampleOf(service: Service, work: () => Promise<unknown>): Promise<Sample> {
  const sample = await timed(work);
  return { ...sample, peakBytes: service.peakBytes() };
}

async function casesOf(size: number): Promise<Case[]> {
  const archive = join(folder, `${size}.pkg.zip`);
  await writePackage(archive, size);
  const cases: Case[] = [];
  const label = size.toLocaleString('en');
  // Made before anything is measured.
  if (wanted.has('read') || wanted.has('encode')) itemLinesOnce(size);

  if (wanted.has('read')) {
    cases.push({
      name: `read lines, ${label} items`,
      baseline: 'JSON.parse of each line',
      runOurs: () =>
        timed(async () => {
          for await (const _ of readItems(Readable.from(itemLinesOnce(size))));
        }),
      runBaseline: () =>
        timed(() => {
          for (const chunk of itemLinesOnce(size)) {
            for (const line of chunk.toString('utf8').split('\n')) if (line !== '') JSON.parse(line);
          }
        }),
    });
  }
  if (wanted.has('encode')) {
    cases.push({
      name: `canonical text and hash, ${label} items`,
      baseline: 'JSON.parse, JSON.stringify and SHA-256 of each line',
      runOurs: () =>
        timed(async () => {
          for await (const { item } of readItems(Readable.from(itemLinesOnce(size)))) encodeItem(item);
        }),
      runBaseline: () =>
        timed(() => {
          for (const chunk of itemLinesOnce(size)) {
            for (const line of chunk.toString('utf8').split('\n')) {
              if (line !== '')
                createHash('sha256')
                  .update(JSON.stringify(JSON.parse(line)))
                  .digest();
            }
          }
        }),
    });
  }
  if (wanted.has('upload')) {
    cases.push({
      name: `upload, ${label} items`,
      baseline: 'unzip -p | psql \\copy to one jsonb column',
      target: 1,
      runOurs: () => withService((service) => sampleOf(service, () => upload(service, archive))),
      runBaseline: async () => {
        await shell(
          `psql -q "$PGURL" -c 'DROP TABLE IF EXISTS floor' -c 'CREATE TABLE floor (item jsonb)'`,
          psql,
        );
        return timed(() =>
          shell(
            `unzip -p ${archive} | psql -q "$PGURL" -c "\\copy floor FROM stdin WITH ${RAW_LINES}"`,
            psql,
          ),
        );
      },
    });
  }
  if (wanted.has('export')) {
    let id = '';
    cases.push({
      name: `export, ${label} items`,
      baseline: 'psql \\copy (select …) to stdout | gzip -6',
      target: 0.9,
      runOurs: () =>
        withService(async (service) => {
          if (id === '') ({ id } = await upload(service, archive));
          return sampleOf(service, async () => {
            const response = await fetch(`${service.url}/datasets/${id}/export`);
            await pipeline(
              Readable.fromWeb(response.body as never),
              createWriteStream(join(folder, 'export.zip')),
            );
          });
        }),
      runBaseline: async () => {
        if (id === '') {
          await withService(async (service) => {
            ({ id } = await upload(service, archive));
          });
        }
        // By the primary key, as the items lie there: the quickest way that PostgreSQL has to give them in order.
        const select = `SELECT payload, answer FROM items WHERE section_id = (SELECT id FROM sections WHERE dataset_id = '${id}') ORDER BY order_index`;
        return timed(() =>
          shell(
            `psql -q "$PGURL" -c "\\copy (${select}) TO stdout" | gzip -6 > ${join(folder, 'export.gz')}`,
            psql,
          ),
        );
      },
    });
  }
  if (wanted.has('convert')) {
    cases.push({
      name: `convert, ${label} items`,
      baseline: 'unzip -p | gzip -6',
      target: 1.5,
      runOurs: () =>
        timed(() => convertLegacyFile(archive, join(folder, 'converted.pkg.zip'), { force: true })),
      runBaseline: () => timed(() => shell(`unzip -p ${archive} | gzip -6 > ${join(folder, 'convert.gz')}`)),
    });
  }
  if (wanted.has('hub')) {
    cases.push(await hubCase({ size, label, folder, psql, withService, sampleOf }));
  }
  return cases;
}

/** The generated lines of one size, kept so that generating is not measured. */
const kept = new Map<number, Buffer[]>();
function itemLinesOnce(size: number): Buffer[] {
  const known = kept.get(size);
  if (known !== undefined) return known;
  kept.clear();
  const lines = [...itemLines(size)];
  kept.set(size, lines);
  return lines;
}

async function httpCases(): Promise<Measured[]> {
  const bare = await startComparison('bare');
  const middleware = await startComparison('middleware');
  try {
    return await withService(async (service) => {
      const ours = (): Promise<Sample> => load(`${service.url}/healthz`);
      const shared = { runOurs: ours, higherIsBetter: true } as const;
      return [
        await measure(
          {
            ...shared,
            name: 'requests a second on /healthz',
            baseline: 'bare Express 5',
            target: 0.8,
            runBaseline: () => load(bare.url),
          },
          rounds,
        ),
        await measure(
          {
            ...shared,
            name: 'the same',
            baseline: 'Express with pino-http and express-prom-bundle',
            target: 1.2,
            runBaseline: () => load(middleware.url),
          },
          rounds,
        ),
      ];
    });
  } finally {
    await bare.stop();
    await middleware.stop();
  }
}

const row = (one: Measured): string => {
  const { ratio, ours, target, higherIsBetter } = one;
  const reached =
    target === undefined
      ? ''
      : (higherIsBetter ? ratio.median >= target : ratio.median <= target)
        ? 'yes'
        : 'no';
  const bound = target === undefined ? '' : `${higherIsBetter ? '≥' : '≤'} ${target}`;
  const time = ours.median < 0.01 ? `${Math.round(1 / ours.median)} / s` : `${ours.median.toFixed(2)} s`;
  const peak = one.peakBytes ? `${Math.round(one.peakBytes / 2 ** 20)} MiB` : '';
  const baseline = one.baseline.replaceAll('|', '\\|');
  return `| ${one.name} | ${baseline} | ${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)}) | ${bound} | ${reached} | ${time} | ${peak} |`;
};

const HEAD = [
  '| case | baseline | ratio: median (min to max) | to reach | reached | ours | peak memory |',
  '|---|---|---|---|---|---|---|',
];
const rows: string[] = [];
const show = (measured: Measured): void => {
  rows.push(row(measured));
  console.log(row(measured));
};

if (!(await hasPrograms(['bash', 'psql', 'unzip', 'gzip']))) {
  throw new Error('the baselines need bash, psql, unzip and gzip');
}
console.log(HEAD.join('\n'));
for (const size of sizes) {
  for (const one of await casesOf(size)) show(await measure(one, rounds));
}
if (wanted.has('http')) for (const measured of await httpCases()) show(measured);
if (wanted.has('upload')) {
  const largest = Math.max(...sizes);
  await withService(async (service) => {
    const health = await watchHealth(service, () => upload(service, join(folder, `${largest}.pkg.zip`)));
    const line = `While ${largest.toLocaleString('en')} items were uploaded, /healthz answered within ${health.p99.toFixed(0)} ms in 99 of 100 cases, within ${health.max.toFixed(0)} ms always.`;
    rows.push('', line);
    console.log(line);
  });
}

if (options.write) {
  const page = fileURLToPath(new URL('README.md', import.meta.url));
  const text = await readFile(page, 'utf8');
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, PostgreSQL 18 embedded; ${rounds} rounds`;
  const table = ['<!-- table -->', '', machine, '', ...HEAD, ...rows, '', '<!-- end of table -->'].join('\n');
  await writeFile(page, text.replace(/<!-- table -->[\s\S]*<!-- end of table -->/, table));
}
