import { canonicalJson } from '@svc/jsonl-v23/json';
import { type Config, objectOf, stated } from '../config-members.ts';
import {
  type CheckerForm,
  checkerFormOf,
  checkerOf,
  EMPTY_CHECKER,
  type OptionValues,
} from './checker-form.ts';

/** One of several scorers in the form. */
export interface ScorerRow {
  readonly name: string;
  /** Type of a checker, `judge` for the judge of the form, or `items` for what the items say. */
  readonly by: string;
  readonly options: OptionValues;
  /** Members of a copied run that the form has no field for. */
  readonly copied: Config;
  /** The judge of a copied run, if it differs from that of the form. */
  readonly ownJudge: Config | null;
}

export const EMPTY_ROW: ScorerRow = {
  name: '',
  by: 'exact_match',
  options: EMPTY_CHECKER.options,
  copied: {},
  ownJudge: null,
};

/** The most that a run may have. */
export const MAX_SCORERS = 8;

/** The rows to begin with where one scorer becomes several: the one of the form, and another. */
export function severalOf({
  checker,
  judge,
}: {
  readonly checker: CheckerForm;
  readonly judge: { readonly isUsed: boolean };
}): readonly ScorerRow[] {
  const by = checker.type ?? (judge.isUsed ? 'judge' : 'items');
  const first = { ...EMPTY_ROW, name: 'main', by, options: checker.options };
  return [first, { ...EMPTY_ROW, name: 'second', by: by === 'includes' ? 'exact_match' : 'includes' }];
}

/**
 * Several scorers as the API takes them.
 *
 * @param judge of the form; null or undefined where it has none that is complete
 * @returns null while a name or the judge is absent
 */
export function scorersOf(
  rows: readonly ScorerRow[],
  judge: object | null | undefined,
): readonly object[] | null {
  const scorers = rows.map(({ name, by, options, copied, ownJudge }) => {
    if (name.trim() === '') return null;
    if (by === 'items') return { name: name.trim() };
    if (by !== 'judge') return { name: name.trim(), checker: checkerOf({ type: by, options }, copied) };
    const asked = ownJudge ?? judge;
    return asked == null ? null : { name: name.trim(), judge: asked };
  });
  return scorers.every((scorer) => scorer !== null) ? scorers : null;
}

/** The rows of a run that is copied, and the judge that the form has fields for. */
export function rowsOf(config: Config): { readonly rows: readonly ScorerRow[]; readonly judge: Config } {
  const scorers = Array.isArray(config['scorers']) ? config['scorers'].map(objectOf) : [];
  const judges = scorers.flatMap(({ judge }) => (judge === undefined ? [] : [objectOf(judge)]));
  const judge = judges[0] ?? objectOf(config['judge']);
  const rows = scorers.map((scorer): ScorerRow => {
    const { checker } = scorer;
    const { type, options } = checkerFormOf(checker);
    const own = scorer['judge'] === undefined ? null : objectOf(scorer['judge']);
    return {
      name: String(scorer['name'] ?? ''),
      by: own !== null ? 'judge' : (type ?? 'items'),
      options,
      copied: stated({ checker }),
      ownJudge: own !== null && jsonOf(own) !== jsonOf(judge) ? own : null,
    };
  });
  return { rows, judge };
}

const jsonOf = (value: Config): string => canonicalJson(value as never);
