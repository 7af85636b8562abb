import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'junit2json';
import type { Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, it } from 'vitest';
import { times } from '../../../tools/vitest/long.ts';
import { verdictOf, widenInterval } from '../src/evaluation.ts';
import {
  type GateCase,
  type GateReport,
  githubAnnotations,
  junitReport,
  markdownSummary,
} from '../src/gate/gate-report.ts';
import { reportText } from '../src/text/format.ts';
import { temporaryFolder } from './temporary-folder.ts';

interface SecondReader {
  parse(options: { type: 'junit'; files: string[] }): {
    readonly status: string;
    readonly total: number;
    readonly failed: number;
    readonly skipped: number;
    readonly suites: readonly {
      readonly cases: readonly { readonly name: string; readonly status: string; readonly failure: string }[];
    }[];
  };
}
/** It is no ES module, and has no types of what it gives. */
const secondReader: SecondReader = createRequire(import.meta.url)('test-results-parser');

/** Texts that mean something to some reader of a report. */
const HOSTILE = [
  '<img src=x onerror=alert(1)><script>alert(1)</script>',
  '```\n# heading\n```js\nlet x\n````',
  '`` ` ``',
  '`',
  '\\`\\',
  'a | b | c\n|---|---|---|\n| 1 | 2 | 3 |',
  '@team please look, #123, GH-1, user@example.com',
  '[link](https://evil.example) ![image](https://evil.example/x.png) https://evil.example <https://evil.example>',
  '::error file=a::b\n::set-output name=x::y\n  ::stop-commands::x',
  "##[error]x ##vso[task.setvariable variable=x]y ##teamcity[testFailed name='x']",
  '&lt;b&gt; &amp; ]]> <!-- x --> <![CDATA[ x ]]>',
  '\u0000\u0007\u001b[31mred\u001b[0m\u202etxt.exe\u2028\ufffe\uffff\ud800',
  '\r\n\r\n- [ ] list\n\n---\n\n1. one',
  '$x^2$ [^1] ~~gone~~ **bold** _it_ :tada:',
  '',
  ' ',
  'x'.repeat(100_000),
  '😀'.repeat(1_000),
];

function reportOf(texts: readonly string[]): GateReport {
  const [a = '', b = '', c = '', d = '', e = '', f = ''] = texts.map(reportText);
  const one: GateCase = {
    ...{ scorer: a, section: null, decides: true, paired: 60, baseline_mean: 0.8, mean: 0.6 },
    ...{
      mean_difference: -0.2,
      interval: [-0.3, -0.1],
      verdict: 'worse',
      reason: 'It is below.',
      worse_total: 3,
    },
    worse_items: [
      {
        ...{ section: b, order_index: 4, item_id: c, baseline_score: 1, score: 0 },
        ...{ question: d, expected: e, baseline_output: f, output: null },
      },
    ],
  };
  return {
    ...{ max_drop: 0.02, exit_code: 10, sight: null, verdict: 'worse', reason: 'It is below.' },
    baseline: { id: 'b', dataset_id: 'd', dataset_version: 1, run_hash: null, label: 'baseline' },
    run: { id: 'r', dataset_id: 'd', dataset_version: 1, run_hash: 'ab'.repeat(32) },
    sealed: {
      ...{ hash: 'cd'.repeat(32), outcome: 'not_met', estimate: -0.1, ci: [-0.2, -0.05], confidence: 0.95 },
      ...{ sealed_at: '2026-01-01T00:00:00.000Z', outputs_before: 2 },
    },
    cases: [
      one,
      { ...one, section: c, decides: false },
      { ...one, section: d, decides: false, verdict: 'undecided', reason: e },
      { ...one, section: e, decides: false, verdict: 'not_worse' },
    ],
    warnings: ['Only 6 items.'],
    about: {
      ...{ dataset: f, startedAt: '2026-01-01T00:00:00.000Z', durationMs: 1234, fails: true },
      configDifferences: [{ path: a, baseline: b, run: undefined }],
    },
  };
}

/** Every text, and every other one after it. */
const REPORTS = HOSTILE.map((text, index) =>
  reportOf([text, ...HOSTILE.slice(index), ...HOSTILE].slice(0, 6)),
);

function* nodesOf(node: Nodes): Generator<Nodes> {
  yield node;
  if ('children' in node) for (const child of node.children) yield* nodesOf(child);
}

const markdownOf = (text: string): Root =>
  fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });

/** Kinds of nodes that a summary is made of. */
const KINDS = ['root', 'heading', 'paragraph', 'text', 'list', 'listItem', 'inlineCode', 'strong'];

describe('the summary', () => {
  it.each(REPORTS.map((report, index) => [HOSTILE[index]?.slice(0, 30) ?? '', report] as const))(
    'shows %j as code',
    (_, report) => {
      const text = markdownSummary(report);
      const nodes = [...nodesOf(markdownOf(text))];
      expect(new Set(nodes.map(({ type }) => type))).toEqual(new Set(KINDS));
      const codes = nodes.flatMap((node) => (node.type === 'inlineCode' ? [node.value] : []));
      const [item] = report.cases[0]?.worse_items ?? [];
      for (const shown of [report.about.dataset, item?.question, item?.expected]) {
        if (shown !== '') expect(codes).toContain(shown);
      }
      // the same structure, whatever the texts are
      const plain = [...nodesOf(markdownOf(markdownSummary(reportOf(['a', 'b', 'c', 'd', 'e', 'f']))))];
      const blocks = (of: readonly Nodes[]) =>
        of.map(({ type }) => type).filter((type) => type !== 'inlineCode' && type !== 'text');
      expect(blocks(nodes)).toEqual(blocks(plain));
      expect(text).not.toMatch(/^\s*::/m);
      expect(text).not.toMatch(/##(?:\w*)\[/);
      expect(text.length).toBeLessThan(12_000);
    },
  );

  it('shows any text as code', () => {
    const part = fc.constantFrom(
      '`',
      '``',
      '\\',
      '<b>',
      '|',
      '\n',
      ' ',
      '@a',
      '](',
      '![',
      '&amp;',
      '##[',
      '::',
      'x',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const report = reportOf([parts.join(''), parts.toReversed().join(''), ...parts]);
        const kinds = new Set([...nodesOf(markdownOf(markdownSummary(report)))].map(({ type }) => type));
        expect(kinds).toEqual(new Set(KINDS));
      }),
      { numRuns: times(300, 60) },
    );
  });
});

describe('the JUnit file', () => {
  it('says the same to two readers', async () => {
    const folder = await temporaryFolder();
    for (const [index, report] of REPORTS.entries()) {
      const xml = junitReport(report);
      const suites = (await parse(xml)) as {
        tests: number;
        failures: number;
        skipped?: number;
        testsuite: { name: string; testcase: Record<string, unknown>[] }[];
      };
      expect(suites).toMatchObject({
        tests: 4,
        failures: 2,
        testsuite: [{ tests: 4, failures: 2, skipped: 1 }],
      });
      const [first, second, third, fourth] = suites.testsuite[0]?.testcase ?? [];
      expect(first).toMatchObject({
        name: 'all sections',
        failure: [{ type: 'worse', message: 'It is below.' }],
      });
      const { question } = report.cases[0]?.worse_items[0] ?? {};
      const [failure] = (first?.['failure'] ?? []) as { inner: string }[];
      expect(failure?.inner).toContain(
        `  question: ${question}`.replaceAll(/[\ufffe\uffff]/g, '\ufffd').trimEnd(),
      );
      expect(failure?.inner).toContain('- and 2 more');
      expect(second).toHaveProperty('failure');
      expect(third).toHaveProperty('skipped');
      expect([fourth?.['failure'], fourth?.['skipped']]).toEqual([undefined, undefined]);

      const file = join(folder, `${index}.xml`);
      await writeFile(file, xml);
      const read = secondReader.parse({ type: 'junit', files: [file] });
      // it does not count skipped ones
      expect(read).toMatchObject({ status: 'FAIL', total: 3, failed: 2, skipped: 1 });
      expect(read.suites[0]?.cases.map(({ status }) => status)).toEqual(['FAIL', 'FAIL', 'SKIP', 'PASS']);
      expect(read.suites[0]?.cases[0]?.failure).toBe('It is below.');
    }
  });

  it('fails only where the gate does', async () => {
    const [report] = REPORTS as [GateReport];
    const [one] = report.cases as [GateCase];
    const of = ({ fails, ...more }: Partial<GateReport> & { readonly fails: boolean }) =>
      junitReport({
        ...{ ...report, cases: [{ ...one, verdict: 'undecided' }], ...more },
        about: { ...report.about, fails },
      });
    const undecided = { verdict: 'undecided', reason: 'It contains <it>.' } as const;
    expect(of({ ...undecided, fails: false })).toContain('<skipped message="It contains &lt;it&gt;."/>');
    expect(of({ ...undecided, fails: true })).toContain(
      '<failure message="It contains &lt;it&gt;." type="undecided">',
    );
    expect(of({ verdict: 'not_worse', fails: false })).toContain('failures="0" errors="0" skipped="0"');
  });
});

it('escapes workflow commands', () => {
  for (const report of REPORTS) {
    const lines = githubAnnotations(report).trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^::error title=Gate of [^:,]*%3A worse::It is below\. 60 items/);
    expect(lines[1]).toMatch(/^::warning title=Worse%3A [^:,]*%2C [^:,]*::60 items/);
  }
});

it.each([
  [[-0.01, 0.03], 'not_worse'],
  [[-0.02, 0.03], 'not_worse'],
  [[-0.021, 0.03], 'undecided'],
  [[-0.05, -0.02], 'undecided'],
  [[-0.05, -0.021], 'worse'],
  [[0, 0], 'not_worse'],
  [null, 'undecided'],
] as const)('calls the interval %j %s', (interval, verdict) => {
  expect(verdictOf(interval, 0.02)).toBe(verdict);
});

it('calls equal runs not worse where no drop is allowed', () => {
  expect(verdictOf([0, 0], 0)).toBe('not_worse');
});

it('widens intervals of several cases as Bonferroni does', () => {
  // scipy.stats.norm.ppf(1 - 0.025 / 5) / scipy.stats.norm.ppf(0.975)
  const [low, high] = widenInterval([-0.3, 0.1], -0.1, 5);
  expect((-0.1 - low) / 0.2).toBeCloseTo(2.5758293 / 1.959964, 3);
  expect((high + 0.1) / 0.2).toBeCloseTo(2.5758293 / 1.959964, 3);
  expect(widenInterval([-0.3, 0.1], -0.1, 1)).toEqual([-0.3, 0.1]);
  expect(widenInterval([-0.95, 0.1], -0.4, 100)[0]).toBe(-1);
});
