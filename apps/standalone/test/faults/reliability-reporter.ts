import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule } from 'vitest/node';
import type { Diagnostic } from './report.ts';

const FILE = fileURLToPath(new URL('../../../../docs/reliability.md', import.meta.url));

const HEAD = `# Reliability

What is done to the built service, as processes of its own, before it is released: each fault and bad input, how many were
tried, what is promised, and what happened. This file is written by the suite itself:

    npm run test:faults -- --write

\`npm test\` runs the same cases, the larger ones with fewer tries. Everything stays on the loopback interface, every loop is
bounded, and random input has fixed seeds.
`;

/** Writes docs/reliability.md from what the tests of a whole run found; a failed run writes nothing. */
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
 * The report: a table for each area, and what could not be tried on the machine that wrote it.
 *
 * @param findings what tests found; those that differ in their numbers alone are added up
 * @param skipped names of tests that did not run
 */
export function toMarkdown(findings: readonly Diagnostic[], skipped: readonly string[]): string {
  const areas = Map.groupBy(findings, ({ area }) => area);
  const sections = [...areas]
    .sort(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([area, found]) => {
      const rows = Map.groupBy(found, ({ fault, promised }) => `${fault}\n${promised}`);
      const hasBefore = found.some(({ before }) => before !== undefined);
      const head = hasBefore
        ? ['| finding | tried | before | promised | now |', '|---|---:|---|---|---|']
        : ['| fault or bad input | tried | promised | happened |', '|---|---:|---|---|'];
      return [`## ${area}`, '', ...head, ...[...rows.values()].map((row) => toRow(row, hasBefore))].join(
        '\n',
      );
    });
  if (skipped.length > 0) {
    const lines = skipped.map((name) => `- ${name}`);
    sections.push(['## Not tried', '', 'The machine that wrote this could not:', '', ...lines].join('\n'));
  }
  return `${HEAD}\n${sections.join('\n\n')}\n`;
}

function toRow(findings: readonly Diagnostic[], hasBefore: boolean): string {
  const [first] = findings;
  const tried = findings.reduce((sum, finding) => sum + finding.tried, 0);
  const happened: Record<string, number> = {};
  for (const finding of findings) {
    for (const [name, count] of Object.entries(finding.happened))
      happened[name] = (happened[name] ?? 0) + count;
  }
  const outcome = Object.entries(happened)
    .map(([name, count]) => `${count.toLocaleString('en')} × ${name}`)
    .join(', ');
  const before = hasBefore ? [first?.before ?? ''] : [];
  const cells = [first?.fault ?? '', tried.toLocaleString('en'), ...before, first?.promised ?? '', outcome];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
