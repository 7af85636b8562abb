import { type LocatedLine, readCorpus, readLine } from '../../packages/evaluation/test/scoring-corpus.ts';
import { inspectChoice, inspectNumeric } from './inspect.ts';
import { mmluPro } from './mmlu-pro.ts';
import type { RuleSet } from './rule-set.ts';
import { simpleEvals } from './simple-evals.ts';

const RULE_SETS: readonly RuleSet[] = [simpleEvals, mmluPro, inspectChoice, inspectNumeric];
const HEAD: readonly string[] = [
  '| rules | outputs | of these right | wrong passes | wrong fails | our wrong passes | our wrong fails |',
  '|---|---|---|---|---|---|---|',
];

/** Wrong passes and wrong fails of each rule set on conformance/scoring, and of this service on the same outputs. */
export async function scoringTable(): Promise<string[]> {
  const corpus = readCorpus();
  const passed = new Set<LocatedLine>();
  for (const line of corpus) if ((await readLine(line)).reading === 'pass') passed.add(line);
  const rows = RULE_SETS.flatMap((rules) => {
    const given = corpus.filter((line) => rules.fits(line));
    const inForm = given.filter((line) => rules.hasForm(line));
    return [
      [`${rules.name}: replies with ${rules.form}`, inForm] as const,
      [`${rules.name}: all replies`, given] as const,
    ].map(([name, lines]) =>
      rowOf(
        name,
        lines,
        wrongOf(lines, (line) => rules.passes(line)),
        wrongOf(lines, (line) => passed.has(line)),
      ),
    );
  });
  const checkers = [...new Set(corpus.map(({ checker }) => checker))];
  const all = checkers.map((checker) => {
    const given = corpus.filter((line) => line.checker === checker);
    const own = wrongOf(given, (line) => passed.has(line));
    return rowOf(`all of \`${checker}\``, given, null, own);
  });
  return ['', ...HEAD, ...rows, ...all];
}

interface Wrong {
  readonly passes: number;
  readonly fails: number;
}

function wrongOf(lines: readonly LocatedLine[], passes: (line: LocatedLine) => boolean): Wrong {
  const isRight = ({ expect }: LocatedLine) => expect === 'pass';
  return {
    passes: lines.filter((line) => !isRight(line) && passes(line)).length,
    fails: lines.filter((line) => isRight(line) && !passes(line)).length,
  };
}

function rowOf(name: string, given: readonly LocatedLine[], theirs: Wrong | null, own: Wrong): string {
  const right = given.filter(({ expect }) => expect === 'pass').length;
  const cells = [name, given.length, right, theirs?.passes ?? '', theirs?.fails ?? '', own.passes, own.fails];
  return `| ${cells.join(' | ')} |`;
}
