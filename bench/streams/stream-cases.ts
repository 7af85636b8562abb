import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { serverAddress, throughLine } from '../../prisma/test/server-address.ts';
import { type Bench, sampleOf, WARM_UPS } from '../bench.ts';
import type { Case, Sample } from '../measure.ts';
import type { Items } from '../package-cases.ts';
import { upload } from '../service.ts';

const LINE = fileURLToPath(new URL('slow-line.ts', import.meta.url));
const STREAMS = 4;

/** Between two machines: how long a byte takes one way, and how many a connection carries. */
interface Line {
  readonly label: string;
  readonly delayMs: number;
  readonly bytesPerSecond: number;
}

const LINES: readonly (Line | null)[] = [
  null,
  { label: '5 ms away, 1 GB/s per connection', delayMs: 5, bytesPerSecond: 1e9 },
  { label: '5 ms away, 20 MB/s per connection', delayMs: 5, bytesPerSecond: 20e6 },
];

/** The same upload over several connections to the database and over one, for databases that are near and far. */
export function streamCases(bench: Bench, items: Items): Case[] {
  return LINES.map((line) => {
    const run = (streams: number): Promise<Sample> => uploadThrough(bench, items, line, streams);
    return {
      name: `upload over ${STREAMS} connections, ${items.label}, database ${line?.label ?? 'on the same machine'}`,
      baseline: 'upload over one connection',
      runOurs: () => run(STREAMS),
      runBaseline: () => run(1),
    };
  });
}

async function uploadThrough(
  bench: Bench,
  { archive, small }: Items,
  line: Line | null,
  streams: number,
): Promise<Sample> {
  const env = { SVC_IMPORT_STREAMS: String(streams) };
  const run = (more: Readonly<Record<string, string>>): Promise<Sample> =>
    bench.withService(
      async (service) => {
        for (let time = 0; time < WARM_UPS; time += 1) await upload(service, small);
        await bench.empty();
        return await sampleOf(service, () => upload(service, archive));
      },
      { ...env, ...more },
    );
  if (line === null) return await run({});
  await using far = await startLine(bench.psql.PGURL, line);
  return await run({ DATABASE_URL: throughLine(bench.psql.PGURL, far) });
}

async function startLine(url: string, line: Line): Promise<{ readonly port: number } & AsyncDisposable> {
  const address = serverAddress(url) as { path?: string; host?: string; port?: number };
  const target = address.path ?? `${address.host}:${address.port}`;
  const child: ChildProcess = spawn(
    process.execPath,
    [LINE, target, String(line.delayMs), String(line.bytesPerSecond)],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const [text] = await once(child.stderr as NonNullable<typeof child.stderr>, 'data');
  return {
    port: Number(/port (\d+)/.exec(String(text))?.[1]),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
