import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildZip } from '../../../../packages/pkg-format/test/build-zip.ts';
import { IS_LONG, report, tally, times } from './report.ts';
import { runService, type ServiceProcess } from './run-service.ts';
import { uploadForm } from './sample-packages.ts';
import { startService } from './start-service.ts';
import { ask, outcomeOf, type ServiceResponse } from './stored-datasets.ts';
import { HUB_ATTACKS, startHostileHub, type TableAttack, uploadAttacks } from './table-attacks.ts';

const KEYS = { viewer: 'viewer-key-0123456789', editor: 'editor-key-0123456789' } as const;
type Role = keyof typeof KEYS;
type Bytes = Uint8Array<ArrayBuffer>;

const MAX_RSS_BYTES = 600 * 1000 * 1000;
const PROBE_INTERVAL_MS = 50;
const MAX_PROBE_MS = 250;
/** Where other tests use the cores too; one look at an unbounded item stopped the service for longer, or ended it. */
const MAX_SHARED_PROBE_MS = 15_000;
const PROBES = times(6000, 120);
/** Of a request of the attack; what takes longer is given up and counted. */
const REQUEST_TIMEOUT_MS = 60_000;

let cleanUp: AsyncDisposableStack;
let service: ServiceProcess;
let slowId: string;
let longId: string;
/** The datasets are there before the service that is attacked: what their uploads took is not what is measured. */
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-faults-'));
  cleanUp.defer(() => rm(dataDir, { recursive: true, force: true }));
  const hub = cleanUp.use(await startHostileHub());
  const env = {
    SVC_API_KEYS: `viewer:${KEYS.viewer},editor:${KEYS.editor}`,
    HUB_ENDPOINT: hub.endpoint,
  };
  let databaseUrl = '';
  const planted = cleanUp.use(
    await startService(env, 'api', (url) => {
      databaseUrl = url;
      return url;
    }),
  );
  service = planted.service;
  const [slow, long] = [await upload(slowChecks(), 'slow checks'), await upload(longTexts(), 'long texts')];
  expect([outcomeOf(slow), outcomeOf(long)]).toEqual(['201', '201']);
  [slowId, longId] = [slow.body.id, long.body.id];
  await service.end('SIGTERM');
  service = cleanUp.use(
    await runService({ app: 'standalone', dataDir, env: { DATABASE_URL: databaseUrl, ...env } }),
  );
});
afterAll(() => cleanUp.disposeAsync());

const say = (role: Role, path: string, init: RequestInit = {}): Promise<ServiceResponse> =>
  ask(service.url + path, {
    ...init,
    headers: { Authorization: `Bearer ${KEYS[role]}`, ...init.headers },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
const upload = (archive: Bytes, name: string): Promise<ServiceResponse> =>
  say('editor', '/datasets/upload', { method: 'POST', body: uploadForm(archive, name) });
const startRun = (dataset_id: string, config: object): Promise<ServiceResponse> =>
  say('editor', '/runs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ dataset_id, config }),
  });

const send = ({ path, body }: TableAttack): Promise<ServiceResponse> =>
  say('editor', path, {
    method: 'POST',
    body,
    ...(typeof body === 'string' ? { headers: { 'content-type': 'application/json' } } : {}),
  });

/** Reads an answer to its end and keeps nothing of it. */
async function read(role: Role, path: string): Promise<string> {
  try {
    const response = await fetch(service.url + path, {
      headers: { Authorization: `Bearer ${KEYS[role]}` },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    for await (const _chunk of response.body ?? []);
    return String(response.status);
  } catch (error) {
    return (error as Error).name;
  }
}

const zip = (lines: readonly object[], files: Readonly<Record<string, Uint8Array>> = {}): Bytes =>
  buildZip({
    entries: [
      {
        name: 'sections/default.jsonl',
        content: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
        method: 'deflated',
      },
      ...Object.entries(files).map(([name, content]) => ({ name, content, method: 'deflated' as const })),
    ],
  }) as Bytes;

/** one item that references an asset of 20 MB 21 times, in 86 kB. */
function repeatedAsset(): Bytes {
  // a period of 500 bytes deflates to 1 : 233, within the limit of an entry
  const asset = Buffer.alloc(20_000_000, Buffer.concat([Buffer.alloc(499), Buffer.of(1)]));
  const assets = Object.fromEntries(
    Array.from({ length: 21 }, (_, index) => [`a${index}`, { path: 'assets/a.bin' }]),
  );
  return zip([{ id: '1', inputs: { prompt: 'p' }, assets }], { 'assets/a.bin': asset });
}

/** outputs and answers that quadratic checkers do not get done with. */
function slowChecks(): Bytes {
  const half = 'a'.repeat(75_000);
  const choices = Array.from({ length: 1000 }, (_, index) => `choice ${index}`);
  return zip([
    {
      id: 'includes',
      inputs: { prompt: 'p' },
      checker: { type: 'includes' },
      answer: `${half}b${half}`,
      meta: { output: 'a'.repeat(300_000) },
    },
    {
      id: 'choice',
      type: 'multiple_choice',
      inputs: { prompt: 'p', choices },
      checker: { type: 'choice' },
      answer: 'choice 1',
      meta: { output: Array.from({ length: 30_000 }, (_, index) => `element ${index}`) },
    },
  ]);
}

/** Items of 29 MB each. */
function longTexts(): Bytes {
  const phrase = 'The quick brown fox jumps over the lazy dog, and the dog does not mind at all; it sleeps. ';
  const prompt = phrase.repeat(Math.ceil((29 * 1000 * 1000) / phrase.length));
  return zip(Array.from({ length: times(8, 3) }, (_, index) => ({ id: String(index), inputs: { prompt } })));
}

/** 96 kB of JSON, in texts as long as they may be, that a quadratic sanitiser takes seconds for. */
const NEWLINES_RUN = {
  provider: {
    type: 'openai_compatible',
    base_url: 'http://127.0.0.1:9/v1',
    model: 'm',
    params: { p: '\n'.repeat(16_000), q: '\n'.repeat(16_000), r: '\n'.repeat(16_000) },
  },
  max_retries: 0,
};
/** The same in validation, with as many values as a body may hold: 60,000 secrets in 240 arrays took three minutes. */
const DEEP_SECRETS_RUN = {
  provider: 'echo',
  deep: JSON.parse(`${'['.repeat(240)}${Array(12_000).fill('{"token":0}').join()}${']'.repeat(240)}`),
};
const SLOW_RUN = { provider: { type: 'item_field', pointer: '/meta/output' }, max_retries: 0 };

async function peakRssBytes(): Promise<number> {
  const status = await readFile(`/proc/${service.child.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

interface Probes {
  /** Ends the probing and gives the time of each answer, in milliseconds. */
  stop(): Promise<number[]>;
}

const PROBED = ['/healthz', '/readyz'] as const;

function startProbing(path: string): Probes {
  const script = fileURLToPath(new URL('./probe-health.ts', import.meta.url));
  const child = spawn(process.execPath, [script, service.url + path, String(PROBE_INTERVAL_MS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return {
    stop: async () => {
      child.stdin.end();
      const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      return JSON.parse(printed) as number[];
    },
  };
}

it('responds while a repeated asset, slow checks, a slow sanitiser and searches run concurrently', {
  timeout: 900_000,
}, async (context) => {
  const bomb = repeatedAsset();
  expect(bomb.byteLength).toBeLessThan(120_000);
  const observed: Record<string, string[]> = {
    upload: [],
    read: [],
    run: [],
    export: [],
    search: [],
    table: [],
  };
  // Tables take minutes to send and to read: `npm test` has no time for them.
  const tables = IS_LONG ? await uploadAttacks() : [];
  const answers = IS_LONG ? HUB_ATTACKS : [];
  const count = (what: string, outcome: string): void => void observed[what]?.push(outcome);
  const outcome = (attack: TableAttack): Promise<string> =>
    send(attack).then(outcomeOf, (error: unknown) => (error as Error).name);

  const attacks: readonly (() => Promise<void>)[] = [
    async () => {
      const planted = await upload(bomb, 'repeated asset');
      count('upload', outcomeOf(planted));
      const id = planted.status === 201 ? planted.body.id : longId;
      for (const path of ['items?limit=1', 'items?limit=100', 'items.jsonl', 'export']) {
        count('read', await read('viewer', `/datasets/${id}/${path}`));
      }
    },
    async () => {
      const run = await startRun(slowId, SLOW_RUN);
      count('run', outcomeOf(run));
      if (run.status !== 202) return;
      await delay(1000);
      count('run', outcomeOf(await say('editor', `/runs/${run.body.id}/cancel`, { method: 'POST' })));
    },
    async () => {
      count('run', outcomeOf(await startRun(slowId, DEEP_SECRETS_RUN)));
      const run = await startRun(slowId, NEWLINES_RUN);
      count('run', outcomeOf(run));
      const id = run.body?.id ?? '00000000-0000-4000-8000-000000000000';
      count('export', await read('viewer', `/datasets/${slowId}/export?run_id=${id}`));
    },
    async () => {
      const searches = Array.from({ length: times(30, 12) }, () =>
        read('viewer', `/datasets/${longId}/items?q=zzzz`),
      );
      for (const outcome of await Promise.all(searches)) count('search', outcome);
    },
    ...[tables, answers]
      .filter((attacksOfKind) => attacksOfKind.length > 0)
      .map((attacksOfKind) => async () => {
        for (const attack of attacksOfKind) count('table', `${attack.name}: ${await outcome(attack)}`);
      }),
  ];

  const probes = PROBED.map(startProbing);
  // Real attackers use other machines: here they leave the cores to the service. The process keeps the priority for the
  // files that it runs later, and only root may put it back, so `npm test` does without.
  if (IS_LONG && process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
  const until = performance.now() + PROBES * PROBE_INTERVAL_MS;
  await Promise.all(
    attacks.map(async (attack) => {
      do await attack();
      while (performance.now() < until && !service.hasEnded());
    }),
  );
  const probed = await Promise.all(
    probes.map(async (one, index) => {
      const latenciesMs = (await one.stop()).toSorted((a, b) => a - b);
      return {
        path: PROBED[index],
        probes: latenciesMs.length,
        inTime: latenciesMs.filter((latencyMs) => latencyMs <= MAX_PROBE_MS).length,
        p99Ms: Math.round(latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? 0),
      };
    }),
  );
  const hasEnded = service.hasEnded();
  const peakBytes = hasEnded ? Number.POSITIVE_INFINITY : await peakRssBytes();
  const facts = {
    hasEnded,
    probed,
    peakMb: Math.round(peakBytes / 1e6),
    ...Object.fromEntries(Object.entries(observed).map(([what, outcomes]) => [what, tally(outcomes)])),
  };
  const shown = JSON.stringify(facts);
  console.info(shown);
  expect(hasEnded, shown).toBe(false);
  expect(service.log().filter(({ event }) => event === 'server.start')).toHaveLength(1);
  for (const { probes: total, inTime: good, p99Ms } of probed) {
    expect(total, shown).toBeGreaterThanOrEqual(times(200, 60));
    // `npm test` runs files side by side on the same cores: there, the time of single answers says little
    if (IS_LONG) expect(good / total, shown).toBeGreaterThanOrEqual(0.99);
    else expect(p99Ms, shown).toBeLessThan(MAX_SHARED_PROBE_MS);
  }
  expect(peakBytes, shown).toBeLessThan(MAX_RSS_BYTES);
  // what is asked for afterwards works
  expect(outcomeOf(await say('viewer', '/datasets'))).toBe('200');
  const runs = probed.reduce((sum, one) => sum + one.probes, 0);
  const inTime = probed.reduce((sum, one) => sum + one.inTime, 0);
  report(context, {
    area: 'Attacks',
    scenario:
      'a repeated asset, slow checks, a slow sanitiser, 30 searches in long texts, tables and hub answers that become large, concurrently, by a viewer and an editor',
    expected: '`/healthz` and `/readyz` within 250 ms in 99 of 100 cases each, less than 600 MB, no restart',
    runs,
    observed: { 'in time': inTime, ...(inTime < runs ? { later: runs - inTime } : {}) },
  });
});
