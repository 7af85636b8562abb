import { MAIN_SCORER } from '@svc/evaluation';
import { StoreError } from '../../database/errors.ts';
import { shortened } from '../../database/values.ts';

/**
 * The number of a scorer in the results of its run, from 1; null for the main one of a run that names none.
 *
 * @param names JSON text of the run's `scorer_names`; null without any
 * @throws StoreError `scorer_not_found`
 */
export function scorerNumber(names: string | null, scorer: string): number | null {
  const found = (JSON.parse(names ?? '[]') as string[]).indexOf(scorer);
  if (found !== -1) return found + 1;
  if (scorer === MAIN_SCORER) return null;
  throw new StoreError('scorer_not_found', `The run has no scorer ${JSON.stringify(shortened(scorer))}.`);
}
