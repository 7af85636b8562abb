import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildZip } from '../../../../packages/pkg-format/test/build-zip.ts';
import { report } from './report.ts';
import { uploadForm } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';

/** Before the fix, most hung for four seconds and more; copies of the text and a busy machine may take part of a second. */
const MAX_PROBE_MS = 2_000;
const MIB = 1024 * 1024;

// biome-ignore lint/suspicious/noExplicitAny: answers have every shape
type Body = any;

let own: OwnService;
let url: string;
let model: Server;
beforeAll(async () => {
  own = await startService({}, 'standalone');
  url = own.service.url;
  model = createServer(async (request, response) => {
    for await (const _ of request);
    response.setHeader('content-type', 'application/json');
    response.end('{"choices":[{"message":{"content":"{\\"score\\": 1}"}}]}');
  });
  await once(model.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  model.closeAllConnections();
  model.close();
  await own[Symbol.asyncDispose]();
});

afterEach(() => expect(own.service.hasEnded(), own.service.stderr()).toBe(false));

/** JSON of a list of this size in bytes: `part(i)` and a comma, again and again, in an order that does not compress. */
function list(bytes: number, part: (digit: number) => string): string {
  let block = '';
  while (block.length < MIB) block += `${part(randomInt(10))},`;
  return `[${block.repeat(Math.ceil(bytes / block.length)).slice(0, -1)}]`;
}

async function upload(item: string): Promise<string> {
  const content = `${item}\n`;
  const archive = buildZip({ entries: [{ name: 'sections/default.jsonl', content, method: 'stored' }] });
  const response = await fetch(`${url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(archive as Uint8Array<ArrayBuffer>, 'large'),
  });
  const body = (await response.json()) as Body;
  expect(response.status, JSON.stringify(body)).toBe(201);
  return body.id;
}

async function runToEnd(datasetId: string, config: object): Promise<{ run: Body; result: Body }> {
  const response = await fetch(`${url}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ dataset_id: datasetId, config }),
  });
  let run = (await response.json()) as Body;
  expect(response.status, JSON.stringify(run)).toBe(202);
  while (!['completed', 'failed', 'cancelled'].includes(run.status)) {
    await delay(100);
    run = await (await fetch(`${url}/runs/${run.id}`)).json();
  }
  const { data } = (await (await fetch(`${url}/runs/${run.id}/results`)).json()) as Body;
  return { run, result: data[0] };
}

/** The longest time of a probe, measured by a separate process, during `work`. */
async function longestProbeMs(work: () => Promise<unknown>): Promise<number> {
  const script = fileURLToPath(new URL('./probe-health.ts', import.meta.url));
  const child = spawn(process.execPath, [script, `${url}/healthz`, '25'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const printed = text(child.stdout);
  await work();
  child.stdin.end();
  await once(child, 'exit');
  return Math.max(...(JSON.parse(await printed) as number[]));
}

const ask = () => ({
  provider: {
    type: 'openai_compatible',
    base_url: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
    model: 'm',
  },
});
/** As many values as a line may have, nearly: what has more is refused when it is uploaded. */
const texts = (bytes: number): string => list(bytes, (digit) => `"${String(digit).repeat(197)}"`);

interface Case {
  readonly name: string;
  /** JSON text */
  readonly item: () => string;
  readonly config: () => object;
  readonly expected: object;
}

const CASES: readonly Case[] = [
  {
    name: '200,000 texts in `meta`, answered by item_field',
    item: () =>
      `{"answer":"x","checker":"exact_match","inputs":{"prompt":"p"},"meta":{"dense":${texts(40 * MIB)},"output":"x"}}`,
    config: () => ({ provider: { type: 'item_field', pointer: '/meta/output' } }),
    expected: { status: 'ok', score: 1, output: 'x' },
  },
  {
    name: 'a prompt of 40 MiB that needs escaping, sent to a model',
    item: () =>
      `{"answer":"x","checker":"exact_match","inputs":{"prompt":"\u20ac${list(40 * MIB, (digit) => `${digit}\\n`)}"}}`,
    config: ask,
    expected: { status: 'ok', score: 0 },
  },
  {
    name: '200,000 texts in `meta`, answered by a model and judged',
    item: () => `{"checker":"judge","id":7,"inputs":{"prompt":"p"},"meta":{"dense":${texts(40 * MIB)}}}`,
    config: () => ({ ...ask(), judge: { ...ask().provider, type: undefined } }),
    expected: { status: 'ok', score: 1, item_id: 7 },
  },
];

describe('runs over items of 40 MiB', () => {
  it.for(CASES)('$name', async ({ name, item, config, expected }, test) => {
    const datasetId = await upload(item());
    let end: { run: Body; result: Body } | undefined;
    const probeMs = await longestProbeMs(async () => {
      end = await runToEnd(datasetId, config());
    });
    expect(end?.run.status).toBe('completed');
    const { result } = end ?? {};
    expect(
      { ...result, output: String(result.output).slice(0, 10) },
      JSON.stringify(result.error),
    ).toMatchObject(expected);
    expect(probeMs).toBeLessThan(MAX_PROBE_MS);
    report(test, {
      area: 'Attacks',
      scenario: `a run over an item with ${name}`,
      expected: 'the item is read on a thread; probes respond in the meantime',
      runs: 1,
      observed: { 'probes responded within 2 s': 1 },
    });
  });
});
