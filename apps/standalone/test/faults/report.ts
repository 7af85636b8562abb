import type { TestContext } from 'vitest';

/** One row of docs/reliability.md, or a part of one: rows with the same scenario and expectation are added up. */
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

/** Records a result for the report that `npm run test:faults -- --write` writes. */
export function report({ task }: Pick<TestContext, 'task'>, finding: Diagnostic): void {
  task.meta.findings = [...(task.meta.findings ?? []), finding];
}

/** Counts the occurrences of each value. */
export function tally(values: Iterable<string | number>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** Whether this is `npm run test:faults`, which runs everything, rather than `npm test`, which runs a part. */
export const IS_LONG: boolean = process.env['FAULTS'] === 'long';

/** The number of runs: all of them, or as many as `npm test` has time for. */
export const times = (long: number, short: number): number => (IS_LONG ? long : short);
