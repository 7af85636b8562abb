import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeHub } from '../../../../packages/hub-client/test/fake-hub.ts';
import { IS_LONG, times } from '../../../../tools/vitest/long.ts';
import { CLIENT_ENV, CLIENT_LIMITS } from './limits/client-limits.ts';
import { LIMITS, type LimitCase, type Target } from './limits/limit-case.ts';
import { limitVariables } from './limits/limit-variables.ts';
import { PACKAGE_LIMITS } from './limits/package-limits.ts';
import { PREVIEW_LIMITS } from './limits/preview-limits.ts';
import { REQUEST_LIMITS } from './limits/request-limits.ts';
import { WORK_LIMITS } from './limits/work-limits.ts';
import { report, tally } from './report.ts';
import { metricOf } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask, LEFTOVERS, listDatasets, NO_LEFTOVERS, outcomeOf } from './stored-datasets.ts';

const CASES: readonly LimitCase[] = [
  ...PACKAGE_LIMITS,
  ...REQUEST_LIMITS,
  ...PREVIEW_LIMITS,
  ...WORK_LIMITS,
  ...CLIENT_LIMITS,
];

/** Limits that no test of a lower level tries. */
const HERE_ALONE = /SVC_MAX_SPOOL_PERCENT|SVC_MAX_(?:EVENT_)?STREAMS_PER_CLIENT|SVC_SLOW_READER_TIMEOUT_MS/;

let own: OwnService;
let shared: OwnService;
let target: Target;
beforeAll(async () => {
  const hub = await startFakeHub();
  shared = await startService(CLIENT_ENV);
  const env = Object.fromEntries(Object.entries(LIMITS).map(([name, value]) => [name, String(value)]));
  own = await startService({ ...env, HUB_ENDPOINT: hub.endpoint });
  target = { service: own.service, shared: shared.service, hub };
});
afterAll(async () => {
  await own[Symbol.asyncDispose]();
  await shared[Symbol.asyncDispose]();
  await target.hub.close();
});

it('every variable that is a limit is tried here', () => {
  const runs = new Set(CASES.flatMap(({ limit }) => limit.match(/SVC_\w+/g) ?? []));
  expect([...runs].sort()).toEqual(limitVariables().sort());
});

describe('a limit', () => {
  it.for(CASES.filter(({ limit }) => IS_LONG || HERE_ALONE.test(limit)))(
    '$limit',
    async ({ limit, within, beyond, ...rest }, context) => {
      const { service } = target;
      const before = (await listDatasets(service.url)).length;
      const tries = times(rest.tries ?? 10, 1);
      const accepted: string[] = [];
      const refused: string[] = [];
      for (let index = 0; index < tries; index++) {
        accepted.push(await within.send(target, index));
        refused.push(await beyond.send(target, index));
      }
      expect(tally(accepted)).toEqual({ [within.outcome]: tries });
      expect(tally(refused)).toEqual({ [beyond.outcome]: tries });
      // some store on their own service
      const kept = (await listDatasets(service.url)).length - before;
      expect(within.outcome === '201' ? [0, tries] : [0]).toContain(kept);
      expect(await own.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);
      await expect.poll(() => service.stagedFiles()).toEqual([]);
      report(context, {
        area: 'Limits',
        scenario: limit,
        expected: `${within.what}: ${within.outcome}; ${beyond.what}: ${beyond.outcome}, and nothing is stored`,
        runs: 2 * tries,
        observed: tally([...accepted, ...refused]),
      });
    },
  );

  it.runIf(IS_LONG)(
    'SVC_MAX_CONCURRENT_IMPORTS: imports that wait too long get Retry-After',
    async (context) => {
      const { service } = target;
      const responses = await Promise.all(
        Array.from({ length: times(400, 40) }, (_, index) =>
          ask(`${service.url}/datasets/upload`, {
            method: 'POST',
            body: uploadForm(samplePackage(200, 500, index), `at once ${index}`),
          }),
        ),
      );
      for (const answer of responses) expect(['201', '503 unavailable']).toContain(outcomeOf(answer));
      for (const { headers } of responses.filter(({ status }) => status === 503)) {
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
      await expect.poll(() => metricOf(service.url, 'svc_http_requests_in_progress')).toBe(1);
      report(context, {
        area: 'Limits',
        scenario: `400 concurrent uploads, ${LIMITS.SVC_MAX_CONCURRENT_IMPORTS} of them served, the rest waiting ${LIMITS.SVC_IMPORT_WAIT_MS} ms`,
        expected: '201, or 503 `unavailable` with `Retry-After`',
        runs: responses.length,
        observed: tally(responses.map(outcomeOf)),
      });
    },
  );
});
