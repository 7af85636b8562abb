import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  type ComparedScores,
  compareScores,
  type Interval,
  type Verdict,
  verdictOf,
} from '../packages/service/src/evaluation/index.ts';

/*
 * Gates on random scores, through the statistics of the service and the verdict of the command line. The decision has
 * their rates, and docs/gate.md the ones of few items.
 */

const GATES = 2_000;
const ITEMS = 4_000;
const MAX_DROP = 0.02;
const DIFFERENCES = [0, -0.01, -0.02, -0.05];

/** Kinds of items: how many there are, and how often the baseline passes them. The run differs in the middling ones. */
const KINDS = [
  { share: 0.5, passes: 0.95, differs: false },
  { share: 0.3, passes: 0.5, differs: true },
  { share: 0.2, passes: 0.1, differs: false },
] as const;

/** Numbers in [0, 1) from a seed: mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const runPasses = ({ passes, differs }: (typeof KINDS)[number], difference: number): number =>
  differs ? passes + difference / 0.3 : passes;

/** One gate. */
function simulated(difference: number, random: () => number): Verdict {
  const [easy, middling, hard] = KINDS;
  const chances = [easy, middling, hard].map((kind) => [kind.passes, runPasses(kind, difference)] as const);
  let [wins, losses] = [0, 0];
  for (let item = 0; item < ITEMS; item += 1) {
    const at = random();
    const [before, after] = chances[at < easy.share ? 0 : at < easy.share + middling.share ? 1 : 2] ?? [0, 0];
    const passed = random() < before;
    const passes = random() < after;
    if (passed && !passes) losses += 1;
    if (passes && !passed) wins += 1;
  }
  return gateOf(ITEMS, wins, losses);
}

/** The verdict of a gate in which so many items got better and worse, by one each. */
function gateOf(items: number, wins: number, losses: number): Verdict {
  const mean = (wins - losses) / items;
  const { ci95, verdict }: ComparedScores = compareScores({
    ...{ paired: items, decided: items, mean: 0, otherMean: mean, meanDifference: mean, wins, losses },
    spread: { values: items, clusters: items, squares: wins + losses - items * mean * mean },
    ...{ ties: items - wins - losses, onlyThisPassed: losses, onlyOtherPassed: wins },
  });
  return verdict ?? verdictOf(ci95 as Interval | null, MAX_DROP);
}

/** The exact chance of a verdict, over all numbers of wins and losses of independent items. */
function chanceOf(wanted: Verdict, items: number, win: number, lose: number): number {
  const logOf = (n: number): number =>
    Array.from({ length: n }, (_, i) => Math.log(i + 1)).reduce((a, b) => a + b, 0);
  const power = (chance: number, n: number): number => (n === 0 ? 0 : n * Math.log(chance));
  let sum = 0;
  for (let wins = 0; wins <= items; wins += 1) {
    for (let losses = 0; losses <= items - wins; losses += 1) {
      if (gateOf(items, wins, losses) !== wanted) continue;
      const ties = items - wins - losses;
      const ways = logOf(items) - logOf(wins) - logOf(losses) - logOf(ties);
      sum += Math.exp(ways + power(win, wins) + power(lose, losses) + power(1 - win - lose, ties));
    }
  }
  return sum;
}

/** The chance below `x` of the normal distribution: Abramowitz and Stegun, 26.2.17, with an error below 7.5e-8. */
function normalChance(x: number): number {
  if (x < 0) return 1 - normalChance(-x);
  const t = 1 / (1 + 0.2316419 * x);
  const sum =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * sum;
}

/** What is stated for a true difference. */
function stated(difference: number): Readonly<Record<Verdict, number>> {
  const squares = KINDS.reduce((sum, kind) => {
    const [before, after] = [kind.passes, runPasses(kind, difference)];
    return sum + kind.share * (before * (1 - after) + after * (1 - before));
  }, 0);
  const stderr = Math.sqrt((squares - difference ** 2) / ITEMS);
  const distance = (difference + MAX_DROP) / stderr;
  const [not_worse, worse] = [normalChance(distance - 1.96), normalChance(-distance - 1.96)];
  return { not_worse, worse, undecided: 1 - not_worse - worse };
}

const percent = (rate: number): string => `${(100 * rate).toFixed(1)} %`;

it('says each verdict as often as the decision states, in 2,000 gates of each true difference', () => {
  const rows: string[] = [];
  for (const [index, difference] of DIFFERENCES.entries()) {
    const random = randomFrom(index + 1);
    const counts: Record<Verdict, number> = { not_worse: 0, worse: 0, undecided: 0 };
    for (let gate = 0; gate < GATES; gate += 1) counts[simulated(difference, random)] += 1;
    const expected = stated(difference);
    const cells = (['not_worse', 'worse', 'undecided'] as const).flatMap((verdict) => {
      const [rate, chance] = [counts[verdict] / GATES, expected[verdict]];
      // four standard errors, and what Student's t, of whole numbers of items, differs by
      expect(Math.abs(rate - chance)).toBeLessThan(4 * Math.sqrt((chance * (1 - chance)) / GATES) + 0.002);
      return [percent(rate), percent(chance)];
    });
    rows.push(`| ${difference * 100} points | ${cells.join(' | ')} |`);
    // false alarms, and drops that are missed
    const limit = 0.025 + 4 * Math.sqrt((0.025 * 0.975) / GATES);
    if (difference >= -MAX_DROP) expect(counts.worse / GATES).toBeLessThan(limit);
    if (difference <= -MAX_DROP) expect(counts.not_worse / GATES).toBeLessThan(limit);
  }
  const page = readFileSync(new URL('../docs/decisions/gate-by-interval.md', import.meta.url), 'utf8');
  expect(page).toContain(rows.join('\n'));
});

it('says how often gates of few items are wrong, as docs/gate.md has it', () => {
  const rows = [2, 3, 5, 10, 30, 100, 200].map((items) => {
    // both runs pass each item half the time; and a baseline that passes everything, of which every tenth item fails now
    const falseAlarm = chanceOf('worse', items, 0.25, 0.25);
    const missed = chanceOf('not_worse', items, 0, 0.1);
    return `| ${items} | ${percent(falseAlarm)} | ${percent(missed)} |`;
  });
  const page = readFileSync(new URL('../docs/gate.md', import.meta.url), 'utf8');
  expect(page).toContain(rows.join('\n'));
});
