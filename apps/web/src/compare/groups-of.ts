import type { Run } from '../runs/use-run.ts';
import type { ScoreInterval } from '../ui/charts/interval-lines.tsx';
import { clampedInterval } from '../ui/text/formats.ts';

/** A group of items that all runs have scores of. */
export interface Group {
  readonly kind: 'by_section' | 'by_type' | 'by_tag';
  readonly name: string;
}

/** The sections, types and tags that all runs have scores of; a kind with only one group says nothing. */
export function groupsOf(runs: readonly Run[]): readonly Group[] {
  return (['by_section', 'by_type', 'by_tag'] as const).flatMap((kind): readonly Group[] => {
    const names = Object.keys(runs[0]?.scores[kind] ?? {}).filter((name) =>
      runs.every(({ scores }) => scores[kind]?.[name]?.mean != null),
    );
    return names.length > 1 ? names.map((name) => ({ kind, name })) : [];
  });
}

/** The scores of a group with their intervals, the baseline first. */
export const intervalsOf = (runs: readonly Run[], { kind, name }: Group): readonly ScoreInterval[] =>
  runs.map(({ scores }) => {
    const group = scores[kind]?.[name];
    const mean = group?.mean ?? 0;
    const [low = mean, high = mean] = clampedInterval(group?.ci95) ?? [];
    return { mean, low, high };
  });

/** One scale for all groups, which the intervals fill. */
export function scaleOf(runs: readonly Run[], groups: readonly Group[]): readonly [from: number, to: number] {
  const ends = groups.flatMap((group) => intervalsOf(runs, group).flatMap(({ low, high }) => [low, high]));
  return [Math.min(...ends), Math.max(...ends)];
}
