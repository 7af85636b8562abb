import { describe, expect, it } from 'vitest';
import { fakeService, json } from './fake-service.ts';
import { svcPkg } from './run-svc-pkg.ts';

const RUN = '0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d';
const place = { section: 's', order_index: 3, repetition: 1, item_id: null, item_hash: 'a'.repeat(64) };

describe('labels', () => {
  it('lists them as text that is safe for a terminal, and writes all as CSV', async () => {
    const label = { ...place, by: 'Ada', verdict: 'fail', note: 'red \u001b[31m\nend', types: ['a', '=1'] };
    const service = await fakeService({
      [`GET /runs/${RUN}/labels`]: json({
        data: [label],
        meta: { limit: 50, next_cursor: null, total_items: 1 },
      }),
      [`GET /runs/${RUN}/labels.csv`]: (_request, response) => void response.end('label_by\nAda\n'),
    });
    const labels = (...argv: string[]) => svcPkg(['labels', RUN, ...argv, '--api-url', service.url]);
    const listed = await labels('--by', 'Ada', '--verdict', 'fail', '--type', 'a b');
    expect(listed.stdout).toContain('red \\u001b[31m\\u000aend');
    expect(listed.stdout).toMatch(/ 3 +1 +Ada +fail +a, =1 /);
    expect(service.requests[0]?.url).toMatch(/verdict=fail&by=Ada&type=a(%20|\+)b&limit=50$/);
    expect((await labels('--verdict', 'fail', '-o', '-')).stdout).toBe('label_by\nAda\n');
    expect(service.requests[1]?.url).toBe(`/runs/${RUN}/labels.csv?verdict=fail`);
  });
});

it('agreement shows the numbers of a scorer', async () => {
  const found = {
    ...{ scorer: 'style', by: null, other: null, n: 10, agreement: 0.8, kappa: 0.6, kappa_ci95: [0.1, 1] },
    cells: { both_pass: 4, both_fail: 4, false_pass: 1, false_fail: 1 },
    ...{ false_pass_rate: 0.2, false_pass_rate_ci95: [0.04, 0.6], false_fail_rate: 0.2 },
    ...{
      false_fail_rate_ci95: null,
      base_rate: 0.5,
      data: [],
      meta: { limit: 50, next_cursor: null, total_items: 2 },
    },
  };
  const service = await fakeService({ [`GET /runs/${RUN}/agreement`]: json(found) });
  const outcome = await svcPkg(['agreement', RUN, '--scorer', 'style', '--api-url', service.url]);
  expect(outcome.stdout).toMatch(/^compared +style\nwith +the newest verdicts\nresults +10$/m);
  expect(outcome.stdout).toMatch(/^kappa +0\.6\n95 % interval +0\.1 to 1$/m);
  expect(service.requests[0]?.url).toBe(`/runs/${RUN}/agreement?scorer=style&limit=50`);
});
