/** A score of one group, with the interval that holds the true mean in 95 % of samples. */
export interface GroupScore {
  readonly name: string;
  readonly mean: number;
  readonly ci95: readonly [low: number, high: number] | null;
  /** Scored results. */
  readonly count: number;
}

/** Scores of groups as the API has them. */
type Groups = Readonly<
  Record<
    string,
    { readonly mean: number | null; readonly ci95: readonly number[] | null; readonly ok?: number }
  >
>;

/** The groups with a score, the best first. */
export function groupScores(groups: Groups | undefined): readonly GroupScore[] {
  return Object.entries(groups ?? {})
    .flatMap(([name, { mean, ci95, ok }]): GroupScore[] =>
      mean === null ? [] : [{ name, mean, ci95: ci95 as [number, number] | null, count: ok ?? 0 }],
    )
    .sort((a, b) => b.mean - a.mean);
}
