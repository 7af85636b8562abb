import { execFile, spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '../apps/standalone/src/embedded-postgres/start-embedded-postgres.ts';
import { superuserUrl } from '../apps/standalone/test/superuser-url.ts';
import { type Bench, createBench, WARM_UPS } from './bench.ts';
import { type Spread, spread, timed } from './measure.ts';
import { drain, readPages, startService, upload } from './service.ts';
import type { Shape } from './shapes/shape.ts';
import { countOf, writeShape } from './shapes/shapes.ts';
import { shell } from './shell.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Ratio from which a case is named. */
const SLOWER = 1.1;
/** Bytes of the lines of a shape, for each item of `--items`: shapes with larger items have fewer. */
const BYTES_PER_ITEM = 1000;

/** What is measured of a dataset after its upload, given its URL. */
const READS = new Map<string, (dataset: string) => Promise<void>>([
  ['export', (dataset) => drain(`${dataset}/export`)],
  ['items.jsonl', (dataset) => drain(`${dataset}/items.jsonl`)],
  ['pages', readPages],
]);

/** The server, and how much is measured on it. */
interface Setting {
  readonly bench: Bench;
  readonly url: string;
  readonly items: number;
  readonly rounds: number;
}

/** A build, and the database that has its schema and no rows. */
interface Side {
  readonly root: string;
  readonly database: string;
}

interface Compared {
  readonly name: string;
  readonly kind: string;
  readonly shape: Shape;
  /** Time of the first side by that of the second. */
  readonly ratio: Spread;
  readonly seconds: readonly Spread[];
  /** How far the rounds of one side lie apart, of the side where they do more. */
  readonly noise: number;
}

/**
 * Builds a commit in a work tree of its own, alternates it with the build of this one on the same data, and prints the
 * ratios of their times. With `isBisected`, names the first bad commit of each slower case.
 *
 * @throws RangeError for a commit that cannot be compared
 */
export async function runAgainst({
  commit,
  isBisected,
  shapes,
  ...data
}: Pick<Setting, 'items' | 'rounds'> & {
  readonly commit: string;
  readonly isBisected: boolean;
  readonly shapes: readonly Shape[];
}): Promise<void> {
  const head = await git(ROOT, 'rev-parse', 'HEAD');
  const base = await git(ROOT, 'rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`).catch(
    () => {
      throw new RangeError(`--against must be a commit, got ${JSON.stringify(commit)}.`);
    },
  );
  const isChanged = (await git(ROOT, 'status', '--porcelain', '--untracked-files=no')) !== '';
  if (isBisected && (isChanged || (await git(ROOT, 'merge-base', base, head)) !== base)) {
    throw new RangeError('--bisect needs an ancestor of HEAD, and a work tree without changes.');
  }
  await using cleanUp = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-against-'));
  const [before, candidate] = [join(folder, 'before'), join(folder, 'candidate')];
  process.once('exit', () => {
    for (const tree of [before, candidate])
      spawnSync('git', ['worktree', 'remove', '--force', tree], { cwd: ROOT });
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  await git(ROOT, 'worktree', 'add', '--detach', before, base);
  await build(before);
  // It would tidy up after one side while the other is measured.
  const { url } = cleanUp.use(
    await startEmbeddedPostgres({ dataDir: folder, settings: { autovacuum: 'off' } }),
  );
  const setting = { bench: createBench(folder, await superuserUrl(url, folder)), url, ...data };
  const then = await prepare(setting, before, 'before');
  const now = await prepare(setting, ROOT, 'now');

  console.log(`now: ${head.slice(0, 10)}${isChanged ? ' with changes' : ''}; then: ${base.slice(0, 10)}\n`);
  console.log('| case | now ÷ then: median (min to max) | spread of the rounds | now | then |');
  console.log('|---|---|---|---|---|');
  const all: Compared[] = [];
  for (const shape of shapes) {
    for (const one of await compare(setting, [now, then], shape, [...READS.keys()])) {
      const { name, ratio, noise, seconds } = one;
      const times = seconds.map(({ median }) => `${median.toFixed(3)} s`).join(' | ');
      const range = `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)})`;
      console.log(`| ${name} | ${range} | ${percent(noise)} | ${times} |`);
      all.push(one);
    }
  }
  const noise = spread(all.map((one) => one.noise));
  console.log(
    `\nRounds of the same build differ by ${percent(noise.median)} (median of the cases), by ${percent(noise.max)} at most.`,
  );
  const slower = all.filter(({ ratio }) => ratio.median > SLOWER);
  if (slower.length === 0) console.log('No case is slower by more than 10 %.');
  for (const { name, ratio } of slower) {
    const rounds = ratio.min > SLOWER ? 'in every round' : 'not in every round';
    console.log(`Slower by more than 10 %, ${rounds}: ${name}, ${ratio.median.toFixed(2)}`);
  }
  if (!isBisected || slower.length === 0) return;
  await git(ROOT, 'worktree', 'add', '--detach', candidate, head);
  for (const { name, shape, kind, ratio } of slower) {
    const found = await firstBad(candidate, base, async () => {
      await build(candidate);
      const sides = [await prepare(setting, candidate, 'candidate'), then] as const;
      const measured = (await compare(setting, sides, shape, [kind])).find((one) => one.kind === kind);
      console.error(`${name}: ${measured?.ratio.median.toFixed(2)}`);
      // Bad begins at half of what was lost, as far from either side as noise can have it.
      return (measured?.ratio.median ?? 0) > Math.sqrt(ratio.median);
    });
    console.log(`${name}: ${found}`);
  }
}

/** Measures one shape: in each round, both sides start on databases without rows, and take turns at each case. */
async function compare(
  { bench, url, items, rounds }: Setting,
  sides: readonly [Side, Side],
  shape: Shape,
  kinds: readonly string[],
): Promise<Compared[]> {
  const count = countOf(shape, items, { maxItems: items, maxBytes: items * BYTES_PER_ITEM });
  const [archive, small] = [join(bench.folder, 'shape.pkg.zip'), join(bench.folder, 'small.pkg.zip')];
  await writeShape(archive, shape, count);
  await writeShape(small, shape, Math.ceil(count / WARM_UPS));
  const reads = [...READS].filter(([kind]) => kinds.includes(kind));
  const cases = [['upload', null] as const, ...reads].map(([kind, read]) => {
    return { kind, read, times: [[], []] as readonly [number[], number[]] };
  });
  for (let round = 0; round < rounds; round += 1) {
    await using running = new AsyncDisposableStack();
    const started = [];
    for (const [side, { root, database }] of sides.entries()) {
      const own = `${database}_${round}`;
      const folder = join(bench.folder, own);
      await mkdir(folder);
      running.defer(() => rmSync(folder, { recursive: true }));
      await sql(bench, `CREATE DATABASE ${own} TEMPLATE ${database} OWNER ${new URL(url).username}`);
      running.defer(() => sql(bench, `DROP DATABASE ${own} WITH (FORCE)`));
      const service = await startService(on(url, own), folder, {}, join(root, 'apps/api/dist/main.js'));
      running.defer(() => service.stop());
      const store = async (file: string): Promise<string> =>
        `${service.url}/datasets/${(await upload(service, file)).id}`;
      for (let time = 0; time < WARM_UPS; time += 1) {
        const dataset = await store(small);
        for (const [, read] of reads) await read(dataset);
      }
      started.push({ side, store, dataset: '' });
    }
    if (round % 2 === 1) started.reverse();
    for (const { read, times } of cases) {
      for (const one of started) {
        await bench.settle();
        const { seconds } = await timed(async () => {
          if (read === null) one.dataset = await one.store(archive);
          else await read(one.dataset);
        });
        times[one.side]?.push(seconds);
      }
    }
  }
  return cases.map(({ kind, times: [first, second] }) => {
    const seconds = [spread(first), spread(second)];
    return {
      ...{ name: `${kind}, ${shape.name} (${count.toLocaleString('en')})`, kind, shape, seconds },
      ratio: spread(first.map((time, round) => time / (second[round] ?? Number.NaN))),
      noise: Math.max(...seconds.map(({ median, min, max }) => (max - min) / median)),
    };
  });
}

/** Bisects over first parents from HEAD, where the work tree is; skips a commit that does not build or run. */
async function firstBad(tree: string, good: string, isBad: () => Promise<boolean>): Promise<string> {
  if (!(await isBad())) return 'no slower when measured again';
  let said = await git(tree, 'bisect', 'start', '--first-parent', 'HEAD', good);
  while (!/is the first bad commit|only 'skip'ped commits/.test(said)) {
    const verdict = await isBad().then(
      (found) => (found ? 'bad' : 'good'),
      (error: Error) => {
        console.error(error.message);
        return 'skip';
      },
    );
    // It fails, and says so, when all commits that are left were skipped.
    said = await git(tree, 'bisect', verdict).catch((error: { readonly stdout: string }) => error.stdout);
  }
  const bad = await git(tree, 'log', '-1', '--format=%h %s', 'refs/bisect/bad');
  await git(tree, 'bisect', 'reset');
  const skipped = said.includes('is the first bad commit') ? '' : ', or one before it that was skipped';
  return `the first bad commit is ${bad}${skipped}`;
}

/** Installs and builds the API of a work tree, as tools/run.mjs does with this one. */
async function build(tree: string): Promise<void> {
  const { devEngines } = JSON.parse(await readFile(join(tree, 'package.json'), 'utf8'));
  const pnpm = `npx --yes pnpm@${devEngines.packageManager.version}`;
  await git(tree, 'clean', '-dffxq', '-e', 'node_modules');
  await shell(
    `cd '${tree}'; { ${pnpm} install --frozen-lockfile; ${pnpm} run build --filter=@svc/api...; } >&2`,
  );
}

/** Makes a database with the schema of a build. */
async function prepare({ bench, url }: Setting, root: string, database: string): Promise<Side> {
  await sql(bench, `DROP DATABASE IF EXISTS ${database}`);
  await sql(bench, `CREATE DATABASE ${database} OWNER ${new URL(url).username}`);
  // Where older commits have it, too.
  const store = ['packages/service/dist/store', 'prisma/dist'].find((folder) =>
    existsSync(join(root, folder)),
  );
  const script = `const { migrate } = await import('${join(root, store ?? '', 'index.js')}'); await migrate(process.argv[1]);`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script, on(url, database)]);
  return { root, database };
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const on = (server: string, database: string): string =>
  Object.assign(new URL(server), { pathname: database }).href;

const sql = ({ psql }: Bench, statement: string): Promise<void> =>
  shell(`psql -q "$PGURL" -c '${statement}'`, psql);

async function git(tree: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd: tree, env: { ...process.env, LC_ALL: 'C' } };
  return (await promisify(execFile)('git', args, options)).stdout.trim();
}
