import { numberOf, stated } from './model-form.ts';

/** A checker that is being chosen. */
export interface CheckerForm {
  /** Null: by the type of the item. */
  readonly checker: string | null;
  readonly pattern: string;
  readonly tolerance: string | number;
}

export const NO_CHECKER: CheckerForm = { checker: null, pattern: '', tolerance: '' };

/** The checkers of the service. */
export const CHECKERS: readonly string[] = [
  'exact_match',
  'includes',
  'regex',
  'numeric',
  'choice',
  'json_equal',
  'judge',
];

/** A checker as the API takes it; undefined where none is chosen. */
export function checkerOf({ checker, pattern, tolerance }: CheckerForm): object | undefined {
  if (checker === null) return undefined;
  return {
    type: checker,
    ...stated({
      pattern: checker === 'regex' ? pattern : undefined,
      tolerance: checker === 'numeric' ? numberOf(tolerance) : undefined,
    }),
  };
}
