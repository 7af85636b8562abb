import type { TestContext } from 'vitest';

/** One row of docs/reliability.md, or a part of one: rows that differ in their numbers alone are added up. */
export interface Diagnostic {
  /** heading that the row stands under */
  readonly area: string;
  /** the fault or bad input */
  readonly fault: string;
  readonly promised: string;
  /** what happened before the fix, where the row belongs to a review's finding; `fault` then begins with its id, "H1: …" */
  readonly before?: string;
  /** how many were tried */
  readonly tried: number;
  /** what happened, and how often */
  readonly happened: Readonly<Record<string, number>>;
}

declare module 'vitest' {
  interface TaskMeta {
    findings?: Diagnostic[];
  }
}

/** Keeps what a test found for the report that `npm run test:faults -- --write` writes. */
export function report({ task }: Pick<TestContext, 'task'>, finding: Diagnostic): void {
  task.meta.findings = [...(task.meta.findings ?? []), finding];
}

/** How often each of these stands in a list. */
export function tally(values: Iterable<string | number>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** Whether this is `npm run test:faults`, which tries everything, and not `npm test`, which tries a part. */
export const IS_LONG: boolean = process.env['FAULTS'] === 'long';

/** A number of tries: all of them, or those that `npm test` has time for. */
export const times = (long: number, short: number): number => (IS_LONG ? long : short);
