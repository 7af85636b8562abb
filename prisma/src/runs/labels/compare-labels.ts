import { type Agreement, type AgreementCells, agreementOf, MAIN_SCORER } from '@svc/evaluation';
import type { Verdict } from '@svc/jsonl-v23/internal';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { cursorAfter, decodeCursor, type Page, type PageRequest, Parameters } from '../../database/page.ts';
import { readableJson, searchableText } from '../../database/values.ts';
import { createReadQuery } from '../../postgres/read-query.ts';
import { type NamedResult, namedResult, positionOf } from '../run-results.ts';
import { readRunColumns } from '../run-row.ts';
import { passedBy } from '../scores/summary-sql.ts';
import { scorerNumber } from '../write/result-counts.ts';
import { andSeesLabel, isLabelOf, isNewestVerdict } from './result-labels.ts';

export type AgreementCell = keyof AgreementCells;
export const AGREEMENT_CELLS: readonly AgreementCell[] = [
  'both_pass',
  'both_fail',
  'false_pass',
  'false_fail',
];

export interface AgreementRequest extends PageRequest {
  /** Name of the scorer that is compared with people; the main one without it. */
  readonly scorer?: string | undefined;
  /** Name of the person; without it, the newest verdict of each output counts. */
  readonly by?: string | undefined;
  /** Name of another person, who is compared in place of a scorer; only with `by`. */
  readonly other?: string | undefined;
  /** Whose results to list; the disagreements without it. */
  readonly cell?: AgreementCell | undefined;
}

/** A result with a person's verdict and the verdict of a scorer, or of another person. */
export interface JudgedResult extends NamedResult {
  readonly by: string;
  readonly verdict: Verdict;
  /** Whether the scorer, or the other person, passes it. */
  readonly passed: boolean;
  readonly cell: AgreementCell;
}

/** How a scorer of a run agrees with people, and a page of its results. */
export interface LabelAgreement extends Page<JudgedResult> {
  readonly agreement: Agreement;
  readonly mainScorer: string;
}

const DISAGREEMENTS: readonly AgreementCell[] = ['false_pass', 'false_fail'];
const POSITION = 'section_order_index, order_index, repetition';

/**
 * How a scorer of a run, or a person, agrees with people.
 *
 * @throws StoreError `run_not_found`, `scorer_not_found`, `invalid_cursor`, `invalid_request`
 */
export async function compareLabels(
  { pool, searches }: StoreContext,
  id: string,
  { limit, cursor, signal, scorer, by, other, cell }: AgreementRequest,
): Promise<LabelAgreement> {
  const cells = cell === undefined ? DISAGREEMENTS : [cell];
  const list = `agreement ${id} ${JSON.stringify([scorer, by, other, cell])}`;
  const after = cursor === undefined ? [-1, -1, -1] : decodeCursor(list, ['index', 'index', 'index'], cursor);
  if (other !== undefined && (by === undefined || scorer !== undefined)) {
    throw new StoreError('invalid_request', 'other needs by, and no scorer.', { path: 'other' });
  }
  using _permit = await searches.acquire(signal);
  const query = createReadQuery(pool, signal);
  const run = await readRunColumns<{ readonly names: string | null; readonly main: string | null }>(
    query,
    id,
    `scorer_names AS names, ${readableJson('config::json')} #>> '{scorers,0,name}' AS main`,
  );
  const number = scorer === undefined ? null : scorerNumber(run.names, scorer);
  const parameters = new Parameters([id]);
  const whose = (person: string): string => `= ${parameters.add(searchableText(person))}`;
  const person = by === undefined ? isNewestVerdict('l', 'l') : `l.person ${whose(by)}`;
  const second =
    other === undefined
      ? ''
      : `JOIN labels o ON ${isLabelOf('o')}${andSeesLabel('o')} AND o.verdict IS NOT NULL AND o.person ${whose(other)}`;
  const passed =
    other !== undefined
      ? `o.verdict = 'pass'`
      : number === null
        ? 'result.passed'
        : `(${passedBy(number, 'result.')})`;
  const judged = `
    SELECT ${POSITION.replaceAll(/(\w+)/g, 'result.$1')}, result.section, result.item_id, result.item_hash, l.person,
      l.verdict, ${passed} AS passed,
      CASE WHEN ${passed} THEN CASE l.verdict WHEN 'pass' THEN 'both_pass' ELSE 'false_pass' END
        ELSE CASE l.verdict WHEN 'pass' THEN 'false_fail' ELSE 'both_fail' END END AS cell
    FROM run_results result JOIN (
      SELECT l.item_hash, l.output_hash, l.person, l.verdict FROM labels l WHERE l.verdict IS NOT NULL AND ${person}${andSeesLabel('l')}
    ) AS l ON ${isLabelOf('l')} ${second}
    WHERE result.run_id = $1 AND ${passed} IS NOT NULL`;
  const counts = await query<{ readonly cell: AgreementCell; readonly count: number }>(
    `SELECT cell, count(*)::float8 AS count FROM (${judged}) AS judged GROUP BY cell`,
    parameters.values,
  );
  const found = new Map(counts.map((row) => [row.cell, row.count]));
  const countOf = (name: AgreementCell): number => found.get(name) ?? 0;
  const places = after.map((index) => `${parameters.add(index)}::int`).join(', ');
  const rows = await query<JudgedResult>(
    `SELECT ${namedResult('judged')}, person AS by, verdict, passed, cell
     FROM (${judged}) AS judged
     WHERE cell = ANY (${parameters.add(cells)}::text[]) AND (${POSITION}) > (${places})
     ORDER BY ${POSITION} LIMIT ${parameters.add(limit + 1)}`,
    parameters.values,
  );
  const data = rows.slice(0, limit);
  return {
    agreement: agreementOf({
      both_pass: countOf('both_pass'),
      both_fail: countOf('both_fail'),
      false_pass: countOf('false_pass'),
      false_fail: countOf('false_fail'),
    }),
    data,
    nextCursor: cursorAfter(list, data, rows.length > limit, positionOf),
    mainScorer: run.main ?? MAIN_SCORER,
    totalItems: cells.reduce((sum, name) => sum + countOf(name), 0),
  };
}
