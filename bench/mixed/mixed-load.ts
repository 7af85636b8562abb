import { numberedPackage, uploadForm } from '../../apps/standalone/test/faults/sample-packages.ts';

const ITEMS = 40;
const READERS = 6;
const WRITERS = 2;

export interface Amounts {
  readonly reads: number;
  readonly uploads: number;
  /** Runs with five results for each item of a dataset. */
  readonly runs: number;
}

export interface LoadTimes {
  /** Seconds until the last read, and until the last upload. */
  readonly reads: number;
  readonly uploads: number;
}

/** Reads, uploads and runs at the same time, each request to one of the APIs at random, as behind a balancer. */
export async function mixedLoad(
  urls: readonly string[],
  providerUrl: string,
  { reads, uploads, runs }: Amounts,
): Promise<LoadTimes> {
  const anyUrl = (): string => urls[Math.floor(Math.random() * urls.length)] as string;
  const send = async (path: string, init?: RequestInit): Promise<string> => {
    const response = await fetch(`${anyUrl()}${path}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  };
  const upload = async (number: number): Promise<string> => {
    const body = uploadForm(numberedPackage(ITEMS, number), `upload ${number}`);
    return JSON.parse(await send('/datasets/upload', { method: 'POST', body })).id;
  };
  const stored = [await upload(0)];
  const [first = ''] = stored;
  const read = async (number: number): Promise<void> => {
    const newest = stored.at(-1);
    const paths = [
      '/datasets?limit=10',
      `/datasets/${first}/items?limit=20`,
      `/datasets/${first}/items.jsonl`,
    ];
    await send(paths[number % paths.length] as string);
    await send(`/datasets/${newest}`);
  };
  const startRun = async (): Promise<string> => {
    const provider = { type: 'openai_compatible', base_url: providerUrl, model: 'm' };
    const body = JSON.stringify({ dataset_id: first, config: { provider, repetitions: 5 } });
    const headers = { 'content-type': 'application/json' };
    return JSON.parse(await send('/runs', { method: 'POST', headers, body })).id;
  };

  const startedAt = performance.now();
  const elapsed = (): number => (performance.now() - startedAt) / 1000;
  const started = await Promise.all(Array.from({ length: runs }, startRun));
  const [readSeconds, uploadSeconds] = await Promise.all([
    shared(READERS, reads / 2, read).then(elapsed),
    shared(WRITERS, uploads, async (number) => void stored.push(await upload(number + 1))).then(elapsed),
  ]);
  for (const id of started) {
    for (;;) {
      const { status, counts } = JSON.parse(await send(`/runs/${id}`));
      if (status === 'completed' && counts.done === ITEMS * 5) break;
      if (status === 'failed') throw new Error(`run ${id} failed`);
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  return { reads: readSeconds, uploads: uploadSeconds };
}

/** Does `count` pieces of work, several concurrently. */
async function shared(
  parallel: number,
  count: number,
  work: (number: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const takeTurns = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: parallel }, takeTurns));
}
