import { existsSync, readdirSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { cpuSecondsOf, statOf } from './costs.ts';
import { IS_LONG } from './long.ts';
import type {} from './measure-file.ts';

/** The areas of the suite: a file belongs to the first that has it. */
const AREAS: readonly (readonly [name: string, files: RegExp])[] = [
  ['built service', /^apps\/standalone\//],
  ['API and workers', /^apps\/(?:api|worker)\//],
  ['console', /^apps\/web\//],
  ['store', /^prisma\//],
  ['CLI, deployments, dumps', /^(?:apps\/cli|packages\/svc-pkg|deploy)\//],
  ['packages', /^packages\//],
  ['tools and documents', /^/],
];

/** Prints at the end of a test run which tests were skipped, and what this machine lacks; then what each area cost. */
export default class SummaryReporter implements Reporter {
  readonly #lines: string[] = [];

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    // Tests of the long form alone say nothing, and are many.
    if (result.state === 'skipped' && (IS_LONG || result.note !== undefined)) {
      this.#lines.push(
        `SKIPPED ${test.module.relativeModuleId}: ${test.name}: ${result.note ?? 'this machine cannot run it'}`,
      );
    }
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const line of this.#lines) console.log(line);
    const byArea = Map.groupBy(
      modules,
      ({ relativeModuleId }) => AREAS.find(([, files]) => files.test(relativeModuleId))?.[0] ?? '',
    );
    const rows = AREAS.map(([area]) => {
      const costs = (byArea.get(area) ?? []).flatMap((module) => module.meta().costs ?? []);
      const sum = (of: (cost: (typeof costs)[number]) => number): number =>
        costs.reduce((total, cost) => total + of(cost), 0);
      return {
        area,
        'CPU s': Math.round(sum(({ cpuSeconds }) => cpuSeconds)),
        files: costs.length,
        processes: sum(({ made }) => made.processes),
        APIs: sum(({ made }) => made.APIs),
        databases: sum(({ made }) => made.databases),
        pages: sum(({ made }) => made.pages),
      };
    });
    const { user, system } = process.cpuUsage();
    const ofVitest = Math.round((user + system) / 1e6);
    const ofAreas = rows.reduce((sum, row) => sum + row['CPU s'], 0);
    console.table([
      ...rows,
      { area: 'Vitest', 'CPU s': ofVitest },
      // and what processes do between two files
      { area: 'database server', 'CPU s': Math.round(secondsOfTree()) - ofVitest - ofAreas },
    ]);
  }
}

/** CPU of this process and of all that it has started, whether they live or have ended. */
function secondsOfTree(): number {
  const pids = (existsSync('/proc') ? readdirSync('/proc') : []).filter((name) => /^[0-9]+$/.test(name));
  const byParent = Map.groupBy(pids, (pid) => statOf(pid)[1] ?? '');
  const secondsOf = (pid: string): number =>
    (byParent.get(pid) ?? []).reduce((sum, child) => sum + secondsOf(child), cpuSecondsOf(pid));
  return secondsOf(String(process.pid));
}
