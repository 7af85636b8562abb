import { afterAll } from 'vitest';
import { type Costs, costsSoFar } from './costs.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** of a test file */
    costs?: Costs;
  }
}

// Files share a process, which runs this once for each of them.
const before = costsSoFar();

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from it which fixtures the hook uses
afterAll(({}, file) => {
  const after = costsSoFar();
  const made = { ...after.made };
  for (const kind of Object.keys(made) as (keyof typeof made)[]) made[kind] -= before.made[kind];
  file.meta.costs = { cpuSeconds: after.cpuSeconds - before.cpuSeconds, made };
});
