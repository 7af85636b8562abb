import type { PlanCounts } from './describe-plan.ts';

/** How long the tries may take together; the rest counts as usable. */
const TRIES_MS = 5_000;

/**
 * Tries what items state, one after another, and counts the items of what cannot be used.
 *
 * @param reasonOf why it cannot be used, as a key of `unscorable`; null if it can
 */
export async function withoutUnusable<Stated extends { readonly items: number }>(
  counts: PlanCounts,
  stated: readonly Stated[],
  reasonOf: (one: Stated, signal: AbortSignal) => Promise<string | null>,
  signal: AbortSignal,
): Promise<PlanCounts> {
  const late = AbortSignal.timeout(TRIES_MS);
  let { scored } = counts;
  const unscorable: Record<string, number> = { ...counts.unscorable };
  try {
    for (const one of stated) {
      const reason = await reasonOf(one, AbortSignal.any([signal, late]));
      if (reason === null) continue;
      scored -= one.items;
      unscorable[reason] = (unscorable[reason] ?? 0) + one.items;
    }
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error;
  }
  return { ...counts, scored, unscorable };
}
