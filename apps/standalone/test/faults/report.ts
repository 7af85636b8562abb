import type { TestContext } from 'vitest';

/** One row of RESULTS.md, or a part of one: rows with the same scenario and expectation are added up. */
export interface Diagnostic {
  /** Heading of the row. */
  readonly area: string;
  /** The fault or invalid input. */
  readonly scenario: string;
  readonly expected: string;
  /** Number of runs. */
  readonly runs: number;
  /** Each observed result, and how often it occurred. */
  readonly observed: Readonly<Record<string, number>>;
}

declare module 'vitest' {
  interface TaskMeta {
    findings?: Diagnostic[];
  }
}

/** Records a result for the report that `npm run test:all -- --write` writes. */
export function report({ task }: Pick<TestContext, 'task'>, finding: Diagnostic): void {
  task.meta.findings = [...(task.meta.findings ?? []), finding];
}

/** Counts the occurrences of each value. */
export function tally(values: Iterable<string | number>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
