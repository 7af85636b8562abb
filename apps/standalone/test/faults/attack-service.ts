import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { tally } from './report.ts';
import { packageOf, uploadForm } from './sample-packages.ts';
import { ask, outcomeOf, type ServiceResponse } from './stored-datasets.ts';
import { HUB_ATTACKS, type TableAttack, uploadAttacks } from './table-attacks.ts';

/**
 * A separate process that attacks a service from all sides, again and again for a time. Prints how often each answer came,
 * as JSON.
 *
 * Usage: node attack-service.ts <plan as JSON>
 */
interface Plan {
  readonly url: string;
  readonly keys: Readonly<Record<Role, string>>;
  /** a dataset with slow checks */
  readonly slowId: string;
  /** a dataset with long texts */
  readonly longId: string;
  readonly durationMs: number;
}
type Role = 'viewer' | 'editor';

/** Timeout of a request; those that take longer are given up and counted. */
const REQUEST_TIMEOUT_MS = 60_000;

// Real attackers use other machines: here they leave the cores to the service. Linux may share cores by session first.
if (process.platform === 'linux') {
  setPriority(constants.priority.PRIORITY_LOW);
  await writeFile('/proc/self/autogroup', String(constants.priority.PRIORITY_LOW)).catch(() => undefined);
}
const { url, keys, slowId, longId, durationMs }: Plan = JSON.parse(process.argv[2] ?? '');

const say = (role: Role, path: string, init: RequestInit = {}): Promise<ServiceResponse> =>
  ask(url + path, {
    ...init,
    headers: { Authorization: `Bearer ${keys[role]}`, ...init.headers },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
const upload = (archive: Uint8Array<ArrayBuffer>, name: string): Promise<ServiceResponse> =>
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
    const response = await fetch(url + path, {
      headers: { Authorization: `Bearer ${keys[role]}` },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    for await (const _chunk of response.body ?? []);
    return String(response.status);
  } catch (error) {
    return (error as Error).name;
  }
}

/** one item that references an asset of 20 MB 21 times, in 86 kB. */
function repeatedAsset(): Uint8Array<ArrayBuffer> {
  // a period of 500 bytes deflates to 1 : 233, within the limit of an entry
  const asset = Buffer.alloc(20_000_000, Buffer.concat([Buffer.alloc(499), Buffer.of(1)]));
  const assets = Object.fromEntries(
    Array.from({ length: 21 }, (_, index) => [`a${index}`, { path: 'assets/a.bin' }]),
  );
  return packageOf([{ id: '1', inputs: { prompt: 'p' }, assets }], { 'assets/a.bin': asset });
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

const bomb = repeatedAsset();
assert(bomb.byteLength < 120_000);
const observed: Record<string, string[]> = {
  upload: [],
  read: [],
  run: [],
  export: [],
  search: [],
  table: [],
};
const tables = await uploadAttacks();
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
    count('export', await read('viewer', `/datasets/${slowId}/export?run_id=${id}&allow_incomplete=true`));
  },
  async () => {
    const searches = Array.from({ length: 30 }, () => read('viewer', `/datasets/${longId}/items?q=zzzz`));
    for (const outcome of await Promise.all(searches)) count('search', outcome);
  },
  ...[tables, HUB_ATTACKS].map((attacksOfKind) => async () => {
    for (const attack of attacksOfKind) count('table', `${attack.name}: ${await outcome(attack)}`);
  }),
];

const until = performance.now() + durationMs;
await Promise.all(
  attacks.map(async (attack) => {
    do await attack();
    while (performance.now() < until);
  }),
);
const tallied = Object.entries(observed).map(([what, outcomes]) => [what, tally(outcomes)] as const);
process.stdout.write(JSON.stringify(Object.fromEntries(tallied)));
