import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule } from 'vitest/node';
import type { Finding } from './report.ts';

const FILE = fileURLToPath(new URL('../../../../docs/reliability.md', import.meta.url));

const HEAD = `# Reliability

What is done to the built service, as processes of its own, before it is released: each fault and bad input, how many were
tried, what is promised, and what happened. This file is written by the suite itself:

    npm run test:faults -- --write

\`npm test\` runs the same cases, the larger ones with fewer tries. Everything stays on the loopback interface, every loop is
bounded, and random input has fixed seeds.
`;

/** Writes docs/reliability.md from what the tests of a whole run found; an incomplete or failed run writes nothing. */
export default class ReliabilityReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const findings: Finding[] = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        if (test.result().state === 'failed') {
          console.error('docs/reliability.md is not written: a test failed');
          return;
        }
        findings.push(...(test.meta().findings ?? []));
      }
    }
    writeFileSync(FILE, toMarkdown(findings));
  }
}

/** The report: a table for each area, in the order in which they were found. */
export function toMarkdown(findings: readonly Finding[]): string {
  const areas = Map.groupBy(findings, ({ area }) => area);
  const sections = [...areas]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([area, found]) => {
      const rows = Map.groupBy(found, ({ fault, promised }) => `${fault}\n${promised}`);
      const lines = [...rows.values()].map(toRow);
      return [
        `## ${area}`,
        '',
        '| fault or bad input | tried | promised | happened |',
        '|---|---:|---|---|',
        ...lines,
      ].join('\n');
    });
  return `${HEAD}\n${sections.join('\n\n')}\n`;
}

function toRow(findings: readonly Finding[]): string {
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
  return `| ${[first?.fault, tried.toLocaleString('en'), first?.promised, outcome].join(' | ')} |`;
}
