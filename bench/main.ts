/**
 * `npm run bench -- [--sizes 10000,100000,1000000] [--cases upload,export] [--rounds 3] [--images 100000]
 * [--table-bytes 1073741824] [--results 1000000] [--shapes all|code,numbers] [--shape-bytes 2000000000]
 * [--write] [--table all]`
 *
 * Generates its data, runs each case and its baseline in turn, and prints ratios; `--write` puts the tables into
 * bench/README.md, in place of the named ones, with a description of the machine.
 * `--floors check` ends with 1 if a case has lost its floor in bench/floors.json, `--floors write` writes them.
 *
 * `npm run bench -- --against <commit> [--bisect] [--items 20000] [--shapes all] [--rounds 3]` compares with another build instead.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '@svc/service/store';
import { startEmbeddedPostgres } from '../apps/standalone/src/embedded-postgres/start-embedded-postgres.ts';
import { superuserUrl } from '../apps/standalone/test/superuser-url.ts';
import { runAgainst } from './against.ts';
import { imageExportCase, imageUploadCase, makeImages } from './assets/image-cases.ts';
import { createBench } from './bench.ts';
import { lostFloors, writeFloors } from './floors.ts';
import { writePackage } from './generate.ts';
import { type Case, type Measured, measure } from './measure.ts';
import { packCase } from './pack/pack-case.ts';
import { resultsTable } from './runs/run-tables.ts';
import { upload, watchProbe } from './service.ts';
import { growthTable } from './shapes/growth-table.ts';
import { measureShape, type ShapeMeasured, worstShapes } from './shapes/shape-cases.ts';
import { shapesNamed } from './shapes/shapes.ts';
import { hasPrograms } from './shell.ts';
import { hubCases, previewCost } from './tables/hub-cases.ts';
import { makeTables, type TableFile, tableCase, tablePreviews } from './tables/table-cases.ts';
import { versionTable } from './versions/version-table.ts';
import { checkTable, writeTable } from './write-table.ts';

const CASES = 'upload,export,convert,health,pack,hub,preview,images,tables,results,versions,growth';

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,100000,1000000' },
    cases: { type: 'string', default: CASES },
    rounds: { type: 'string', default: '3' },
    images: { type: 'string', default: '100000' },
    shapes: { type: 'string', default: 'all' },
    'shape-bytes': { type: 'string', default: '2000000000' },
    'table-bytes': { type: 'string', default: String(2 ** 30) },
    results: { type: 'string', default: '1000000' },
    write: { type: 'boolean', default: false },
    table: { type: 'string', default: 'all' },
    against: { type: 'string' },
    bisect: { type: 'boolean', default: false },
    items: { type: 'string', default: '20000' },
    floors: { type: 'string' },
  },
});
const sizes = options.sizes.split(',').map(Number);
const wanted = new Set(options.cases.split(','));
const rounds = Number(options.rounds);
const shapes = await orExit(() => {
  const unknown = [...wanted].filter((name) => !CASES.split(',').includes(name));
  if (unknown.length > 0) throw new RangeError(`--cases must be some of ${CASES}, got ${unknown.join()}.`);
  return shapesNamed(options.shapes);
});
const counts = { maxItems: Math.max(...sizes), maxBytes: Number(options['shape-bytes']) };
if (options.floors !== undefined && !['check', 'write'].includes(options.floors)) {
  throw new RangeError('--floors must be check or write.');
}
if (options.write) await checkTable(options.table);
if (!(await hasPrograms(['bash', 'curl', 'psql', 'unzip', 'gzip', 'zip', 'sync']))) {
  throw new Error('the baselines need bash, curl, psql, unzip, gzip, zip and sync');
}
if (options.against !== undefined) {
  const against = { commit: options.against, isBisected: options.bisect, items: Number(options.items) };
  await orExit(() => runAgainst({ ...against, shapes, rounds }));
  process.exit();
}

await using cleanUp = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
// It would tidy up after one side while the other is measured.
const postgres = cleanUp.use(
  await startEmbeddedPostgres({ dataDir: folder, settings: { autovacuum: 'off' } }),
);
await migrate(postgres.url);
// between the cases it writes a checkpoint, which the role of the service may not
const bench = createBench(folder, await superuserUrl(postgres.url, folder));

const lines: string[] = [];
const compared: Measured[] = [];
function show(...added: string[]): void {
  lines.push(...added);
  console.log(added.join('\n'));
}

const small = join(folder, 'small.pkg.zip');
await writePackage(small, 10_000);
/** What a case may hold at most. */
const MAX_PEAK_BYTES = 400e6;
const HEAD: readonly string[] = [
  '| case | baseline | ratio: median (min to max) | target | met | time or rate | peak memory, below 400 MB |',
  '|---|---|---|---|---|---|---|',
];
for (const size of sizes) {
  const ofSize: ShapeMeasured[] = [];
  for (const shape of shapes) {
    for await (const one of measureShape(bench, shape, wanted, { size, ...counts }, compare))
      ofSize.push(one);
  }
  for (const worst of worstShapes(ofSize)) showRow(worst);
  if (wanted.has('pack')) await compare(packCase(bench, size));
  if (wanted.has('hub')) for (const one of await hubCases(bench, size)) await compare(one);
}
if (wanted.has('images')) {
  const images = await makeImages(bench, Number(options.images));
  await compare(imageUploadCase(bench, images));
  await compare(imageExportCase(bench, images));
}
const tables: readonly TableFile[] = wanted.has('tables')
  ? await makeTables(bench, Number(options['table-bytes']))
  : [];
for (const table of tables) await compare(await tableCase(bench, table));

if (wanted.has('health')) {
  const count = Math.max(...sizes);
  const largest = join(folder, 'health.pkg.zip');
  await writePackage(largest, count);
  await bench.empty();
  await bench.withService(async (service) => {
    const { p99, max } = await watchProbe(service, '/healthz', () => upload(service, largest));
    show(
      '',
      `While ${count.toLocaleString('en')} items were uploaded, the 99th percentile of /healthz was ${p99.toFixed(0)} ms, the maximum ${max.toFixed(0)} ms.`,
    );
  });
}
if (wanted.has('preview')) {
  show('', '| preview of Parquet, 10 rows of | requests | bytes | time |', '|---|---|---|---|');
  for (const size of sizes) {
    const { requests, bytes, milliseconds } = await previewCost(bench, size);
    show(
      `| ${size.toLocaleString('en')} | ${requests} | ${bytes.toLocaleString('en')} | ${milliseconds} ms |`,
    );
  }
}
if (tables.length > 0) {
  show('', '| preview of a file, after its last byte | three times | target |', '|---|---|---|');
  for (const table of tables) {
    const size = `${(table.bytes / 2 ** 20).toFixed(0)} MiB`;
    const times = (await tablePreviews(bench, table)).join(', ');
    show(`| ${table.format}, ${size} | ${times} ms | < 300 ms |`);
  }
}
if (wanted.has('results')) for await (const line of resultsTable(bench, Number(options.results))) show(line);
if (wanted.has('versions')) for await (const line of versionTable(bench, Math.max(...sizes))) show(line);
if (wanted.has('growth')) for (const line of growthTable(shapes)) show(line);

if (options.floors === 'write') await writeFloors(compared);
if (options.floors === 'check') {
  const lost = await lostFloors(compared);
  for (const line of lost) console.error(`Floor lost: ${line}`);
  if (lost.length > 0) process.exitCode = 1;
}
if (options.write) await writeTable(options.table, lines, rounds);

/** Does what an option says; a wrong one ends the program with its message alone. */
async function orExit<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

async function compare(one: Case): Promise<Measured> {
  const measured = await measure(one, rounds);
  compared.push(measured);
  showRow(measured);
  return measured;
}

function showRow(measured: Measured): void {
  if (lines.length === 0) show(...HEAD);
  show(toRow(measured));
}

function toRow(one: Measured): string {
  const { ratio, ours, target, higherIsBetter } = one;
  const isReached =
    target === undefined ? null : higherIsBetter ? ratio.median >= target : ratio.median <= target;
  return `| ${[
    one.name,
    one.baseline.replaceAll('|', '\\|'),
    `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)})`,
    target === undefined ? '' : `${higherIsBetter ? '≥' : '≤'} ${target}`,
    isReached === null ? '' : isReached ? 'yes' : 'no',
    higherIsBetter ? `${Math.round(1 / ours.median)} / s` : `${ours.median.toFixed(2)} s`,
    one.peakBytes
      ? `${Math.round(one.peakBytes / 2 ** 20)} MiB${one.peakBytes > MAX_PEAK_BYTES ? ', missed' : ''}`
      : '',
  ].join(' | ')} |`;
}
