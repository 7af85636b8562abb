import { expect, it } from 'vitest';
import type { Run } from '../queries.ts';
import { factsOf, measuredOf } from './start-panel.tsx';

const provider = { type: 'openai_compatible', base_url: 'https://a.example/v1', model: 'm' };

/** A run of 100 results in 50 s, 5 at a time. */
const run = (id: string, facts: object = {}, config: object = {}): Run =>
  ({
    id,
    dataset_id: 'maths',
    config: { provider, concurrency: 5, ...config },
    counts: { done: 100, ok: 90 },
    ...{ source_run_id: null, reused_run_id: null, retries: 0 },
    ...{ started_at: '2026-01-01T00:00:00Z', finished_at: '2026-01-01T00:00:50Z' },
    ...facts,
  }) as unknown as Run;

const asked = { dataset_id: 'maths', config: { provider, concurrency: 10 } };

it('takes the time of a run of the same dataset and model, scaled by what runs at a time', () => {
  const measured = measuredOf([run('support', { dataset_id: 'support' }), run('maths')], asked);
  expect(measured?.run.id).toBe('maths');
  expect(measured?.msOf(1_000)).toBe(250_000);
  // fewer results than may run at a time
  expect(measured?.msOf(4)).toBe(2_500);
  expect(measuredOf([run('maths')], { ...asked, config: { provider } })?.msOf(1_000)).toBe(312_500);
});

it.each([
  ['of another dataset', { dataset_id: 'support' }, {}],
  ['of another model', {}, { provider: { ...provider, model: 'n' } }],
  ['that asked a judge', {}, { judge: { model: 'j' } }],
  ['that asked one of several judges', {}, { scorers: [{ checker: 'exact' }, { judge: { model: 'j' } }] }],
  ['that took outputs of another', { reused_run_id: 'x' }, {}],
  ['that was tried again', { retries: 1 }, {}],
  ['that has not ended', { finished_at: null }, {}],
])('says nothing by a run %s', (_, facts, config) => {
  expect(measuredOf([run('r', facts, config)], asked)).toBeNull();
});

it('says that the estimates are of the first of several runs', () => {
  const estimate = { input_tokens: 10, output_tokens: 5, cost: { amount: 1, currency: 'USD' } };
  const plan = { items: 4, requests: 4, scorable: 4, unscorable: 0, reused: 0, estimate } as never;
  const estimates = (runs: number) => factsOf(plan, null, runs).filter((fact) => fact.startsWith('about'));
  expect(estimates(1)).toEqual(['about 15 tokens', expect.stringMatching(/^about [^r]*$/)]);
  for (const fact of estimates(2)) expect(fact).toMatch(/ for the first run$/);
});
