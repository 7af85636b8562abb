import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { type Service, upload } from '../service.ts';
import { writeSharedAssetPackage } from './generate-images.ts';

/** What is done with a dataset whose items share one large asset. */
export interface AssetPeak {
  readonly label: string;
  readonly seconds: number;
  readonly peakBytes: number;
  /** Bytes that the database grew by, as a share of the asset; after an upload. */
  readonly growth: number | undefined;
}

/** An item may be larger with its files than the default allows. */
const LARGE_ITEMS = { SVC_MAX_LINE_BYTES: String(1024 * 1024 * 1024) };
const PAGES = 20;
/** Base64 texts of noise, which a server would compress for most of the time. */
const AS_THEY_ARE = { headers: { 'accept-encoding': 'identity' } };
const POLL_MS = 100;

/**
 * The peak memory of the service for each use of datasets in which all items embed one asset: one item several times, and
 * many items once. Each use runs in a separate process.
 *
 * @param itemCount of those many
 */
export async function* assetMemory(
  bench: Bench,
  assetBytes: number,
  itemCount: number,
): AsyncGenerator<AssetPeak> {
  const shapes = [
    { label: '1 item, 21 references', items: 1, references: 21, env: LARGE_ITEMS },
    {
      label: `${itemCount.toLocaleString('en')} items, 1 reference`,
      items: itemCount,
      references: 1,
      env: {},
    },
  ];
  const model = await startModel();
  const path = join(bench.folder, 'shared.pkg.zip');
  try {
    for (const { label, items, references, env } of shapes) {
      await writeSharedAssetPackage(path, { byteLength: assetBytes, items, references });
      await bench.empty();
      let ids: readonly string[] = [];
      const uses: Readonly<Record<string, (service: Service) => Promise<unknown>>> = {
        upload: async (service) => {
          ids = [(await upload(service, path)).id];
        },
        'upload again': async (service) => {
          ids = [...ids, (await upload(service, path)).id];
        },
        list: (service) => readPages(service, `/datasets/${ids[0]}/items?limit=100`),
        'list links': (service) => readPages(service, `/datasets/${ids[0]}/items?limit=100&assets=link`),
        stream: (service) => read(service, `/datasets/${ids[0]}/items.jsonl`),
        export: (service) => read(service, `/datasets/${ids[0]}/export`),
        diff: (service) => read(service, `/datasets/${ids[0]}/diff/${ids[1]}`),
        run: (service) => run(service, String(ids[0]), model.url),
      };
      for (const [name, use] of Object.entries(uses)) {
        const before = await bench.databaseBytes();
        yield await bench.withService(async (service) => {
          const startedAt = performance.now();
          await use(service);
          const seconds = (performance.now() - startedAt) / 1000;
          const after = await bench.databaseBytes();
          const growth = name.startsWith('upload') ? (after - before) / assetBytes : undefined;
          return { label: `${name}, ${label}`, seconds, peakBytes: service.peakBytes(), growth };
        }, env);
      }
    }
  } finally {
    model.server.closeAllConnections();
    model.server.close();
  }
}

/** Reads a response to its end and keeps nothing of it. */
async function read(service: Service, path: string): Promise<void> {
  const response = await fetch(service.url + path, AS_THEY_ARE);
  if (response.status !== 200)
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  for await (const _ of response.body as ReadableStream<Uint8Array>);
}

/** Reads the first pages of a list. A page can be larger than a string may be: only its end is looked at. */
async function readPages(service: Service, path: string): Promise<void> {
  let cursor = '';
  for (let page = 0; page < PAGES; page += 1) {
    const response = await fetch(service.url + path + cursor, AS_THEY_ARE);
    if (response.status !== 200)
      throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    let end = Buffer.alloc(0);
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      end = Buffer.concat([end, chunk]).subarray(-4096);
    }
    const next = /"next_cursor":"([^"]+)"/.exec(end.toString())?.[1];
    if (next === undefined) return;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}

async function run(service: Service, id: string, baseUrl: string): Promise<void> {
  const provider = { type: 'openai_compatible', base_url: baseUrl, model: 'm' };
  const created = await fetch(`${service.url}/runs`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ dataset_id: id, config: { provider, concurrency: 8 } }),
  });
  if (created.status !== 202)
    throw new Error(`POST /runs answered ${created.status}: ${await created.text()}`);
  let { id: runId, status } = (await created.json()) as { id: string; status: string };
  while (status === 'queued' || status === 'running') {
    await sleep(POLL_MS);
    ({ status } = (await (await fetch(`${service.url}/runs/${runId}`)).json()) as { status: string });
  }
  if (status !== 'completed') throw new Error(`the run is ${status}`);
}

/** A model that reads whatever it is sent, and answers. */
async function startModel(): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('Content-Type', 'application/json');
      response.end('{"choices":[{"message":{"content":"x"}}]}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}
