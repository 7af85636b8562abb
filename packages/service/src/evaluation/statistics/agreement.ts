import { type Interval, NORMAL_975, shareInterval } from './intervals.ts';

/** Outputs by what a person and a judge say of them. */
export interface AgreementCells {
  readonly both_pass: number;
  readonly both_fail: number;
  /** The judge passes what the person fails. */
  readonly false_pass: number;
  /** The judge fails what the person passes. */
  readonly false_fail: number;
}

export type Agreement = ReturnType<typeof agreementOf>;

/**
 * How a judge agrees with a person. A number is null if it is about no outputs, and kappa if chance agreement is 1; intervals
 * of shares are Wilson's.
 */
export function agreementOf(cells: AgreementCells) {
  const { both_pass: bothPass, both_fail: bothFail, false_pass: falsePass, false_fail: falseFail } = cells;
  const n = bothPass + bothFail + falsePass + falseFail;
  const passed = bothPass + falsePass;
  const failed = bothFail + falseFail;
  const found = kappaOf(cells, n);
  return {
    ...{ n, cells },
    /** Share of the outputs with equal verdicts. */
    agreement: shareOf(bothPass + bothFail, n),
    /** Cohen's. */
    kappa: found?.kappa ?? null,
    kappa_ci95: found?.interval ?? null,
    /** Share of the outputs passed by the judge that the person fails. */
    false_pass_rate: shareOf(falsePass, passed),
    false_pass_rate_ci95: intervalOf(falsePass, passed),
    /** Share of the outputs failed by the judge that the person passes. */
    false_fail_rate: shareOf(falseFail, failed),
    false_fail_rate_ci95: intervalOf(falseFail, failed),
    /** Share of the outputs that the person passes. */
    base_rate: shareOf(bothPass + falseFail, n),
  };
}

const shareOf = (count: number, of: number): number | null => (of === 0 ? null : count / of);

function intervalOf(count: number, of: number): Interval | null {
  return of === 0 ? null : shareInterval(count / of, { values: of, clusters: of, squares: 0 });
}

/**
 * Cohen's kappa (1960) with the 95 % interval by the standard error of Fleiss, Cohen and Everitt, "Large sample standard
 * errors of kappa and weighted kappa" (1969), formula 13, cut to [-1, 1].
 *
 * @returns null if chance agreement is 1, or without outputs
 */
function kappaOf(
  { both_pass: bothPass, both_fail: bothFail, false_pass: falsePass, false_fail: falseFail }: AgreementCells,
  n: number,
): { readonly kappa: number; readonly interval: Interval } | null {
  if (bothPass === n || bothFail === n) return null;
  const judge = [(bothPass + falsePass) / n, (bothFail + falseFail) / n] as const;
  const person = [(bothPass + falseFail) / n, (bothFail + falsePass) / n] as const;
  const observed = (bothPass + bothFail) / n;
  const chance = judge[0] * person[0] + judge[1] * person[1];
  // Counts are exact.
  const byChance =
    (bothPass + falsePass) * (bothPass + falseFail) + (bothFail + falseFail) * (bothFail + falsePass);
  const kappa = (n * (bothPass + bothFail) - byChance) / (n * n - byChance);
  const equal = [bothPass / n, bothFail / n].reduce((sum, share, index) => {
    const marginals = (judge[index] ?? 0) + (person[index] ?? 0);
    return sum + share * (1 - chance - marginals * (1 - observed)) ** 2;
  }, 0);
  // Off the diagonal, a cell takes the person's marginal of the judge's verdict, and the judge's of the person's.
  const unequal =
    (falsePass / n) * (person[0] + judge[1]) ** 2 + (falseFail / n) * (person[1] + judge[0]) ** 2;
  const rest = observed * chance - 2 * chance + observed;
  const variance = (equal + (1 - observed) ** 2 * unequal - rest ** 2) / (n * (1 - chance) ** 4);
  const half = NORMAL_975 * Math.sqrt(Math.max(0, variance));
  return { kappa, interval: [Math.max(-1, kappa - half), Math.min(1, kappa + half)] };
}
