import type { Item } from '@svc/jsonl-v23';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { compileMapping, labelledChoices, type Mapping, suggestMapping } from '@svc/jsonl-v23/mapping';
import { describe, expect, it } from 'vitest';
import type { CheckOutcome } from '../../src/evaluation/checkers/checker.ts';
import { CHECKERS } from '../../src/evaluation/checkers/checkers.ts';
import { planCheck } from '../../src/evaluation/scoring/plan-check.ts';
import { BENCHMARK_TABLES, type BenchmarkTable } from './benchmark-tables.ts';

/** The type that a reader of JSON gives a column with this cell. */
function dtypeOf(cell: JsonValue | undefined): string {
  if (cell === undefined || cell === null || typeof cell === 'string') return 'string';
  if (typeof cell === 'number') return Number.isInteger(cell) ? 'int64' : 'float64';
  if (typeof cell === 'boolean') return 'bool';
  if (Array.isArray(cell)) return `list<${dtypeOf(cell[0])}>`;
  const members = Object.entries(cell as JsonObject).map(([name, value]) => `${name}: ${dtypeOf(value)}`);
  return `struct<${members.join(', ')}>`;
}

const featuresOf = (rows: readonly JsonObject[]) =>
  Object.keys(rows[0] ?? {}).map((name) => ({
    name,
    dtype: dtypeOf(rows.map((row) => row[name]).find((cell) => (cell ?? null) !== null)),
  }));

const suggest = (rows: readonly JsonObject[]) => suggestMapping(featuresOf(rows), rows);

/** Scores an output as a run does. */
function check(item: Item, output: string): CheckOutcome {
  const plan = planCheck({ output, item, reasoning: 'strip', thoughts: null, judge: null });
  const checker = 'task' in plan ? CHECKERS.get(plan.task.type) : undefined;
  if (checker === undefined) throw new Error('The item is not checked.');
  return checker.check({ output, item, options: {} });
}

/** The mean score of a model whose answer to each item is the right choice, or the one after it; numbers alike. */
function meanOf({ rows, right }: BenchmarkTable, mapping: Mapping, isRight: boolean): number {
  const toItem = compileMapping(mapping, featuresOf(rows));
  let sum = 0;
  for (const [index, row] of rows.entries()) {
    const item = toItem(row, index);
    const { choices } = labelledChoices(item);
    const wanted = right[index] as number | string;
    const picked =
      typeof wanted === 'number' ? choices[(wanted + (isRight ? 0 : 1)) % choices.length] : undefined;
    const output =
      picked === undefined
        ? `The answer is ${isRight ? wanted : `${wanted}7`}`
        : `The answer is (${picked.label})`;
    const { status, score } = check(item, output);
    expect(status).toBe('ok');
    sum += score ?? 0;
  }
  return sum / rows.length;
}

describe('the suggested mapping, as it comes', () => {
  it.each(BENCHMARK_TABLES.map((table) => [table.name, table] as const))(
    'of %s scores a model that is always right 1, and one that is always wrong 0',
    (_, table) => {
      const suggestion = suggest(table.rows);
      expect(suggestion?.warnings).toHaveLength(table.name === 'GPQA' ? 1 : 0);
      const mapping = suggestion?.mapping as Mapping;
      expect(meanOf(table, mapping, true)).toBe(1);
      expect(meanOf(table, mapping, false)).toBe(0);
    },
  );
});
