import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule } from 'vitest/node';
import type { Diagnostic } from './report.ts';

const FILE = fileURLToPath(new URL('RESULTS.md', import.meta.url));

const HEAD = `# Results of fault injection

Faults that the tests inject into the built service, what is expected of it, and what was observed. The suite writes this
file after a complete run:

    npm run test:all -- --write

\`npm test\` tries one fault of each kind. Everything stays on the loopback interface, every loop is bounded, and random
input has fixed seeds.
`;

/** Writes RESULTS.md from the results of a complete run; a failed run writes nothing. */
export default class ReliabilityReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const isWhole = errors.length === 0 && modules.every((module) => module.ok());
    if (!isWhole) {
      console.error('RESULTS.md is not written: a test failed');
      return;
    }
    const skipped = tests
      .filter((test) => test.result().state === 'skipped' && test.module.moduleId.includes('/faults/'))
      .map(({ fullName }) => fullName);
    const findings = tests.flatMap((test) => test.meta().findings ?? []);
    writeFileSync(FILE, toMarkdown(findings, skipped));
  }
}

/**
 * The report: a table per area, and the tests that did not run.
 *
 * @param findings results of tests; those with the same scenario and expectation are one row
 * @param skipped names of tests that did not run
 */
export function toMarkdown(findings: readonly Diagnostic[], skipped: readonly string[]): string {
  const areas = Map.groupBy(findings, ({ area }) => area);
  const sections = [...areas]
    .sort(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([area, found]) => {
      const rows = Map.groupBy(found, ({ scenario, expected }) => `${scenario}\n${expected}`);
      const head = ['| scenario | expected | observed |', '|---|---|---|'];
      return [`## ${area}`, '', ...head, ...[...rows.values()].map((row) => toRow(row))].join('\n');
    });
  if (skipped.length > 0) {
    const lines = skipped.map((name) => `- ${name}`);
    sections.push(['## Skipped', '', 'This machine could not run:', '', ...lines].join('\n'));
  }
  return `${HEAD}\n${sections.join('\n\n')}\n`;
}

function toRow(findings: readonly Diagnostic[]): string {
  const [first] = findings;
  const observed = new Set(findings.flatMap((finding) => Object.keys(finding.observed)));
  const cells = [first?.scenario ?? '', first?.expected ?? '', [...observed].sort().join(', ')];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
