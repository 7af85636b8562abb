import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { report } from './report.ts';
import { runService, type ServiceProcess } from './run-service.ts';
import { packageOf, uploadForm } from './sample-packages.ts';
import { startService } from './start-service.ts';
import { ask, outcomeOf, type ServiceResponse } from './stored-datasets.ts';
import { startHostileHub } from './table-attacks.ts';

const KEYS = { viewer: 'viewer-key-0123456789', editor: 'editor-key-0123456789' } as const;
type Role = keyof typeof KEYS;
type Bytes = Uint8Array<ArrayBuffer>;

const MAX_RSS_BYTES = 600 * 1000 * 1000;
const PROBE_INTERVAL_MS = 50;
const MAX_PROBE_MS = 250;
const PROBES = 6000;
/** Timeout of a request of the attack; those that take longer are given up and counted. */
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

/** outputs and answers that quadratic checkers do not get done with. */
function slowChecks(): Bytes {
  const half = 'a'.repeat(75_000);
  const choices = Array.from({ length: 1000 }, (_, index) => `choice ${index}`);
  return packageOf([
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
  return packageOf(Array.from({ length: 8 }, (_, index) => ({ id: String(index), inputs: { prompt } })));
}

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

/** Attacks the service for as long as the probes are to last, and gives how often each answer came. */
async function attack(): Promise<Readonly<Record<string, Readonly<Record<string, number>>>>> {
  const script = fileURLToPath(new URL('./attack-service.ts', import.meta.url));
  const plan = { url: service.url, keys: KEYS, slowId, longId, durationMs: PROBES * PROBE_INTERVAL_MS };
  const child = spawn(process.execPath, [script, JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // a session of its own, whose priority it lowers
    detached: true,
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(printed);
}

it('responds while a repeated asset, slow checks, a slow sanitiser and searches run concurrently', {
  timeout: 900_000,
}, async (context) => {
  const probes = PROBED.map(startProbing);
  const observed = await attack();
  const probed = await Promise.all(
    probes.map(async (one, index) => {
      const latenciesMs = (await one.stop()).toSorted((a, b) => a - b);
      return {
        path: PROBED[index],
        probes: latenciesMs.length,
        inTime: latenciesMs.filter((latencyMs) => latencyMs <= MAX_PROBE_MS).length,
        medianMs: Math.round(latenciesMs[latenciesMs.length >> 1] ?? 0),
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
    ...observed,
  };
  const shown = JSON.stringify(facts);
  console.info(shown);
  expect(hasEnded, shown).toBe(false);
  expect(service.log().filter(({ event }) => event === 'server.start')).toHaveLength(1);
  for (const { probes: total, inTime: good } of probed) {
    expect(total, shown).toBeGreaterThanOrEqual(200);
    expect(good / total, shown).toBeGreaterThanOrEqual(0.99);
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
