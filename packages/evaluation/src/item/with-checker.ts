import type { ItemParts } from '@svc/jsonl-v23/internal';

/** A checker that a run states for its items. */
export interface RunChecker {
  /** Canonical JSON text of what an item would have as its `checker`. */
  readonly json: string;
  /** `default` for items without a checker, `override` for all. */
  readonly mode: 'default' | 'override';
}

/** The item with the run's checker, if that applies to it. */
export function withChecker(parts: ItemParts, checker: RunChecker | null): ItemParts {
  if (checker === null) return parts;
  const hasOwn = parts.checker !== null && parts.checker !== 'null';
  return hasOwn && checker.mode === 'default' ? parts : { ...parts, checker: checker.json };
}
