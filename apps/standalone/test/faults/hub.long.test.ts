import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeHub, type Fault, startFakeHub } from '../../../../packages/hub-client/test/fake-hub.ts';
import { times } from '../../../../tools/vitest/long.ts';
import { report, tally } from './report.ts';
import { metricOf, type ServiceProcess } from './run-service.ts';
import { type OwnService, startService } from './start-service.ts';
import {
  ask,
  LEFTOVERS,
  listDatasets,
  NO_LEFTOVERS,
  outcomeOf,
  type ServiceResponse,
} from './stored-datasets.ts';

const AREA = 'The hub';
/** concurrent imports: enough that those that are tried again do not wait for each other */
const SLOTS = 16;
const SLOTS_ENV = {
  SVC_MAX_CONCURRENT_IMPORTS: String(SLOTS),
  SVC_DATABASE_POOL_SIZE: String(4 * SLOTS),
};
let hub: FakeHub;
let own: OwnService;
let service: ServiceProcess;
beforeAll(async () => {
  hub = await startFakeHub();
  const rows = Array.from({ length: 5000 }, (_, index) => `{"q":"question ${index} ${'x'.repeat(200)}"}\n`);
  hub.add({ id: 'org/lines', files: { 'train.jsonl': rows.join('') } });
  own = await startService({ HUB_ENDPOINT: hub.endpoint, ...SLOTS_ENV });
  service = own.service;
});
afterAll(async () => {
  await own[Symbol.asyncDispose]();
  await hub.close();
});
beforeEach(() => hub.forget());

const post = (
  path: string,
  body: object,
  { url = service.url, signal }: { url?: string; signal?: AbortSignal } = {},
): Promise<ServiceResponse> =>
  ask(`${url}/datasets/hub/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
const importAll = (name: string, signal?: AbortSignal): Promise<ServiceResponse> =>
  post(
    'import',
    { name, config: { path: 'org/lines' }, mapping: { prompt_column: 'q' } },
    signal === undefined ? {} : { signal },
  );

async function expectNothingLeft(datasets: number): Promise<void> {
  expect(await listDatasets(service.url)).toHaveLength(datasets);
  expect(await own.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);
  await expect.poll(() => service.stagedFiles()).toEqual([]);
  await expect.poll(() => metricOf(service.url, 'svc_http_requests_in_progress')).toBe(1);
  expect(service.log().filter(({ event }) => event === 'error.internal')).toEqual([]);
  expect((await ask(`${service.url}/readyz`)).status).toBe(200);
}

const REFUSED = expect.stringMatching(/^50[234] hub_(?:unavailable|bad_response|timeout|rate_limited)$/);

const FAULTS: readonly (readonly [scenario: string, rule: Fault])[] = [
  ['returns 500', { kind: 'status', status: 500 }],
  ['returns an HTML page', { kind: 'html' }],
  ['returns bytes that are not HTTP', { kind: 'garbage' }],
  ['disconnects', { kind: 'cut', afterBytes: 10 }],
];

describe('a hub', () => {
  // concurrently: each is tried again for some fifteen seconds before it is given up
  it('that fails is named, and nothing is stored', async (context) => {
    await using gone = await startService({ ...SLOTS_ENV });
    const tries = times(4, 1);
    const both = (url: string, path: string): Promise<ServiceResponse>[] => [
      post('preview', { path }, { url }),
      post('import', { name: 'never', config: { path }, mapping: { prompt_column: 'q' } }, { url }),
    ];
    const failing = FAULTS.map(([scenario, rule], index) => {
      const id = `org/failing-${index}`;
      hub.add({ id, files: { 'train.jsonl': '{"q":"x"}\n' } });
      hub.fail({ match: new RegExp(id), fault: rule });
      return [scenario, Array.from({ length: tries }, () => both(service.url, id)).flat()] as const;
    });
    const refused = Array.from({ length: tries }, () => both(gone.service.url, 'org/lines')).flat();
    for (const [scenario, asked] of [...failing, ['is down: connections are refused', refused] as const]) {
      const responses = await Promise.all(asked);
      for (const answer of responses) expect([scenario, outcomeOf(answer)]).toEqual([scenario, REFUSED]);
      report(context, {
        area: AREA,
        scenario: `a hub that ${scenario}: previews and imports`,
        expected: '502, 503 or 504 with a `hub_*` code; nothing is stored, the service stays ready',
        runs: responses.length,
        observed: tally(responses.map(outcomeOf)),
      });
    }
    await expectNothingLeft(0);
    expect(await listDatasets(gone.service.url)).toEqual([]);
  });

  it('that disconnects in the middle of a file gets a request for the rest', async (context) => {
    const before = (await listDatasets(service.url)).length;
    const responses: ServiceResponse[] = [];
    for (let round = 0; round < times(10, 2); round++) {
      hub.forget();
      hub.fail({ match: /train/, fault: { kind: 'cut', afterBytes: 100_000 + round * 7 }, times: 2 });
      responses.push(await importAll(`resumed ${round}`));
    }
    expect(tally(responses.map(outcomeOf))).toEqual({ 201: responses.length });
    // all of it, once
    expect(new Set(responses.map(({ body }) => `${body.item_count} ${body.version_hash}`)).size).toBe(1);
    expect(responses[0]?.body.item_count).toBe(5000);
    await expectNothingLeft(before + responses.length);
    report(context, {
      area: AREA,
      scenario: 'a hub that disconnects in the middle of a file, twice',
      expected: '201, with every row once',
      runs: responses.length,
      observed: tally(responses.map(outcomeOf)),
    });
  });

  it('that goes silent does not hold imports of disconnected clients', async (context) => {
    const before = (await listDatasets(service.url)).length;
    hub.fail({ match: /train/, fault: { kind: 'stall', afterBytes: 200_000 } });
    const found: string[] = [];
    for (let round = 0; round < times(30, 6); round++) {
      const gone = new AbortController();
      const answer = importAll('never', gone.signal);
      await delay(50 + round * 10);
      gone.abort();
      found.push(outcomeOf(await answer) === 'no answer' ? 'freed' : outcomeOf(await answer));
    }
    expect(tally(found)).toEqual({ freed: found.length });
    await expectNothingLeft(before);
    hub.forget();
    // no slot is held
    const after = await Promise.all(Array.from({ length: SLOTS }, (_, index) => importAll(`after ${index}`)));
    expect(tally(after.map(outcomeOf))).toEqual({ 201: SLOTS });
    report(context, {
      area: AREA,
      scenario: 'imports from a hub that stops responding, whose clients disconnect',
      expected: 'slot, transaction and connection are released; nothing is stored',
      runs: found.length,
      observed: tally(found),
    });
  });
});
