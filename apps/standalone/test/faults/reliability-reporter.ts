import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule } from 'vitest/node';
import type { Diagnostic } from './report.ts';

const FILE = fileURLToPath(new URL('../../../../docs/reliability.md', import.meta.url));

const HEAD = `# Reliability

Fault-injection results of the built service: each scenario, the number of runs, and the expected and the observed result.
The suite writes this file:

    npm run test:faults -- --write

\`npm test\` runs the same scenarios, the larger ones with fewer runs. Everything stays on the loopback interface, every loop
is bounded, and random input has fixed seeds.
`;

/** Writes docs/reliability.md from the results of a complete run; a failed run writes nothing. */
export default class ReliabilityReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const isWhole = errors.length === 0 && modules.every((module) => module.ok());
    if (!isWhole) {
      console.error('docs/reliability.md is not written: a test failed');
      return;
    }
    const skipped = tests.filter((test) => test.result().state === 'skipped').map(({ fullName }) => fullName);
    const findings = tests.flatMap((test) => test.meta().findings ?? []);
    writeFileSync(FILE, toMarkdown(findings, skipped));
  }
}

/**
 * The report: a table per area, and the tests that did not run.
 *
 * @param findings results of tests; those with the same scenario and expectation are added up
 * @param skipped names of tests that did not run
 */
export function toMarkdown(findings: readonly Diagnostic[], skipped: readonly string[]): string {
  const areas = Map.groupBy(findings, ({ area }) => area);
  const sections = [...areas]
    .sort(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([area, found]) => {
      const rows = Map.groupBy(found, ({ scenario, expected }) => `${scenario}\n${expected}`);
      const hasBefore = found.some(({ before }) => before !== undefined);
      const head = hasBefore
        ? ['| finding | runs | before | expected | observed |', '|---|---:|---|---|---|']
        : ['| scenario | runs | expected | observed |', '|---|---:|---|---|'];
      return [`## ${area}`, '', ...head, ...[...rows.values()].map((row) => toRow(row, hasBefore))].join(
        '\n',
      );
    });
  if (skipped.length > 0) {
    const lines = skipped.map((name) => `- ${name}`);
    sections.push(['## Skipped', '', 'This machine could not run:', '', ...lines].join('\n'));
  }
  return `${HEAD}\n${sections.join('\n\n')}\n`;
}

function toRow(findings: readonly Diagnostic[], hasBefore: boolean): string {
  const [first] = findings;
  const runs = findings.reduce((sum, finding) => sum + finding.runs, 0);
  const observed: Record<string, number> = {};
  for (const finding of findings) {
    for (const [name, count] of Object.entries(finding.observed))
      observed[name] = (observed[name] ?? 0) + count;
  }
  const outcome = Object.entries(observed)
    .map(([name, count]) => `${count.toLocaleString('en')} × ${name}`)
    .join(', ');
  const before = hasBefore ? [first?.before ?? ''] : [];
  const cells = [first?.scenario ?? '', runs.toLocaleString('en'), ...before, first?.expected ?? '', outcome];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
