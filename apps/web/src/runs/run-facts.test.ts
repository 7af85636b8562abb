import { expect, it } from 'vitest';
import { comparisonOf, nameOf, type Run } from './queries.ts';
import { outcomeText } from './results/listed-result.tsx';
import { resultColumns } from './results/result-columns.tsx';
import { factsOf } from './run-facts.ts';
import { runColumns } from './runs-table.tsx';

const run = {
  ...{ id: 'a-0000-a641', name: null, created_at: '2026-01-02', started_at: null, finished_at: null },
  ...{ config: { provider: { type: 'echo' } }, scorers: {}, latency_ms: null, cost: null, bar: null },
  ...{ verdict: null, run_hash: null, usage: { input_tokens: 0, output_tokens: 0 } },
  counts: { total: 4, done: 4, ok: 0, failed: 4, unscored: 0 },
  scores: { mean: null, ci95: null, passed: 0, wrong: 0, pass_rate: 0 },
} as unknown as Run;

it('says no share of right answers where none came, and no tokens of a run without any', () => {
  expect(factsOf(run).map(([name]) => name)).toEqual(['Score', 'No answer', 'Done', 'Time', 'Latency']);
  const cells = new Map(runColumns(() => 'D').map(({ key, cell }) => [key, cell(run, 0)]));
  expect(['score', 'right', 'tokens', 'cost'].map((key) => cells.get(key))).toEqual(['–', '–', '–', '–']);
});

it('names a run without a name by what it asks', () => {
  expect(nameOf(run)).toBe('Echo #a641');
  const outside = { type: 'external', label: 'lm-eval' };
  expect(nameOf({ ...run, config: { provider: outside } as never })).toBe('lm-eval #a641');
});

it('compares runs of a list with the oldest, in whatever order they were chosen', () => {
  const older = { ...run, id: 'b', created_at: '2026-01-01' };
  expect(comparisonOf([run, older], [run.id, 'b', 'unread'])).toBe(`b,${run.id},unread`);
});

it('orders results by every column that the service orders', () => {
  const sorted = resultColumns(['/tier'], ['polite'], false, undefined).filter(({ isSorted }) => isSorted);
  const listed = ['id', 'question', 'expected', 'got', 'score', 'latency', 'tokens', 'cost'];
  expect(sorted.map(({ key }) => key)).toEqual([
    ...listed,
    ...['tags', 'type', 'label', 'scorer.polite', 'meta./tier'],
  ]);
});

it('says how a result ended in one word', () => {
  expect(outcomeText({ status: 'ok', passed: false })).toBe('wrong');
  expect(outcomeText({ status: 'failed', passed: null })).toBe('no answer');
});

it('says of which results the right ones are the share', () => {
  const counts = { total: 5, done: 5, ok: 3, failed: 1, unscored: 1 };
  const scores = { mean: 0.67, ci95: null, passed: 2, wrong: 1, pass_rate: 0.5 };
  expect(factsOf({ ...run, counts, scores } as unknown as Run)).toContainEqual(['Right', '2', '50.0 % of 4']);
});
