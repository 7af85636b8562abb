import type { ResultLabel, Verdict } from '@svc/jsonl-v23/runs';
import { type AgreementCells, agreementOf, MAIN_SCORER } from '../../../evaluation/index.ts';
import { writeAudit } from '../../audit/actor.ts';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import {
  cursorAfter,
  decodeCursor,
  MAX_PAGE_BYTES,
  type PageRequest,
  Parameters,
} from '../../database/page.ts';
import { readableJson, runNotFound, searchableText } from '../../database/values.ts';
import { inTransaction } from '../../postgres/pool.ts';
import { createReadQuery, queryOf, type ReadQuery } from '../../postgres/read-query.ts';
import { findResult, type ResultName } from '../results/items-of-results.ts';
import { type NamedResult, namedResult, positionOf } from '../run-results.ts';
import { readRunColumns } from '../run-row.ts';
import { passedBy } from '../scores/summary-sql.ts';
import { scorerNumber } from '../write/insert-results.ts';
import {
  andSeesLabel,
  byName,
  bytesOfLabel,
  isLabelOf,
  isNewestVerdict,
  LABEL_COLUMNS,
  type StoredLabel,
} from './result-labels.ts';

/** Which labels of a run's results to read; a label passes if it passes all of these. */
export interface LabelConditions {
  readonly verdict?: Verdict | undefined;
  readonly by?: string | undefined;
  readonly type?: string | undefined;
  readonly section?: string | undefined;
}

/** A label and the result that it is of. Where several results have one output, each has the label. */
export interface LabelOfResult extends NamedResult, StoredLabel {}

export interface LabelSummary {
  readonly results: number;
  readonly labels: number;
  readonly pass: number;
  readonly fail: number;
  /** The 100 with most labels. */
  readonly people: readonly { readonly by: string; readonly labels: number }[];
  /** The 100 with most labels. */
  readonly types: readonly { readonly type: string; readonly labels: number }[];
}

const POSITION = 'result.section_order_index, result.order_index, result.repetition';

/** The clause for the labels of the run `$1`. */
function fromLabels({ verdict, by, type, section }: LabelConditions, parameters: Parameters): string {
  const parts: string[] = [];
  const add = (sql: (parameter: string) => string, value: string | undefined): void => {
    if (value !== undefined) parts.push(`AND ${sql(parameters.add(searchableText(value)))}`);
  };
  add((value) => `l.verdict = ${value}`, verdict);
  add((value) => `l.person = ${value}`, by);
  add((value) => `l.types @> ARRAY[${value}::text]`, type);
  add((value) => `result.section = ${value}`, section);
  return `FROM run_results result JOIN labels l ON ${isLabelOf('l')}${andSeesLabel('l')} WHERE result.run_id = $1 ${parts.join(' ')}`;
}

type Position = readonly [section: number, item: number, repetition: number, by: string];

/** Labels behind a position, in item order and by person: as many as fit into a page, and one at least. */
async function readLabelsAfter(
  query: ReadQuery,
  id: string,
  conditions: LabelConditions,
  after: Position | null,
  limit: number,
): Promise<{ readonly labels: readonly LabelOfResult[]; readonly hasMore: boolean }> {
  const parameters = new Parameters([id, ...(after ?? [-1, -1, -1, '']), limit + 1]);
  const rows = await query<LabelOfResult & { readonly fits: boolean }>(
    `SELECT section, "sectionOrderIndex", "orderIndex", repetition, "itemId", "itemHash", by, verdict,
       CASE WHEN fits THEN note END AS note, types, "createdAt", "updatedAt", imported, fits
     FROM (
       SELECT found.*, sum(bytes) OVER listed <= ${MAX_PAGE_BYTES} OR row_number() OVER listed = 1 AS fits
       FROM (
         SELECT ${namedResult('result')}, ${bytesOfLabel('l')} AS bytes, ${LABEL_COLUMNS('l')}
         ${fromLabels(conditions, parameters)} AND (${POSITION}, ${byName('l')}) > ($2::int, $3::int, $4::int, $5::text COLLATE "C")
         ORDER BY ${POSITION}, ${byName('l')} LIMIT $6
       ) AS found
       WINDOW listed AS (ORDER BY "sectionOrderIndex", "orderIndex", repetition, by COLLATE "C")
     ) AS sized
     ORDER BY "sectionOrderIndex", "orderIndex", repetition, by COLLATE "C"`,
    parameters.values,
  );
  const fitting = rows.slice(0, limit).filter(({ fits }) => fits);
  const labels = fitting.map(({ fits: _, ...label }) => label);
  return { labels, hasMore: rows.length > labels.length };
}

const placeOf = (label: LabelOfResult): Position => [...positionOf(label), label.by];

/** The labels of a run's results, in item order and by person. @throws StoreError `run_not_found`, `invalid_cursor` */
export async function listLabels(
  { pool, searches }: StoreContext,
  id: string,
  { limit, cursor, signal, ...conditions }: PageRequest & LabelConditions,
) {
  const after =
    cursor === undefined ? null : decodeCursor(`labels ${id}`, ['index', 'index', 'index', 'text'], cursor);
  using _permit = await searches.acquire(signal);
  const query = createReadQuery(pool, signal);
  const summary = await summarizeLabels(query, id, conditions);
  const { labels, hasMore } = await readLabelsAfter(query, id, conditions, after, limit);
  return {
    data: labels,
    nextCursor: cursorAfter(`labels ${id}`, labels, hasMore, placeOf),
    totalItems: summary.labels,
    summary,
  };
}

const MAX_LISTED = 100;

async function summarizeLabels(query: ReadQuery, id: string, conditions: LabelConditions) {
  const parameters = new Parameters([id]);
  const from = fromLabels(conditions, parameters);
  const [row] = await query<LabelSummary>(
    `WITH found AS MATERIALIZED (SELECT ${POSITION}, l.person, l.verdict, l.types ${from})
     SELECT count(*)::float8 AS labels,
       (SELECT count(*)::float8 FROM (SELECT DISTINCT section_order_index, order_index, repetition FROM found) AS results) AS results,
       count(*) FILTER (WHERE verdict = 'pass')::float8 AS pass, count(*) FILTER (WHERE verdict = 'fail')::float8 AS fail,
       (SELECT coalesce(json_agg(people), '[]') FROM (
         SELECT person AS by, count(*) AS labels FROM found GROUP BY person ORDER BY 2 DESC, ${byName('found')} LIMIT ${MAX_LISTED}
       ) AS people) AS people,
       (SELECT coalesce(json_agg(kinds), '[]') FROM (
         SELECT type, count(*) AS labels FROM found CROSS JOIN unnest(types) AS type
         GROUP BY type ORDER BY 2 DESC, type COLLATE "C" LIMIT ${MAX_LISTED}
       ) AS kinds) AS types,
       EXISTS (SELECT 1 FROM runs WHERE id = $1) AS exists
     FROM found`,
    parameters.values,
  );
  const { exists, ...summary } = row as LabelSummary & { readonly exists: boolean };
  if (!exists) throw runNotFound(id);
  return summary;
}

const BATCH_ROWS = 1_000;

/** All labels of a run's results that pass conditions, in item order and by person, in batches. */
export async function* readLabels(query: ReadQuery, id: string, conditions: LabelConditions) {
  let after: Position | null = null;
  for (;;) {
    const { labels, hasMore } = await readLabelsAfter(query, id, conditions, after, BATCH_ROWS);
    const last = labels.at(-1);
    if (last !== undefined) {
      yield labels;
      after = placeOf(last);
    }
    if (!hasMore) return;
  }
}

/** By name: a distributed PostgreSQL sends a whole row without what no expression names. */
const STATE =
  'l.item_hash, l.output_hash, l.person, l.verdict, l.note, l.types, l.created_at, l.updated_at, l.imported';

/** Names the state of the labels of a run's results: any change gives another text. */
export async function stateOfLabels(query: ReadQuery, id: string): Promise<string> {
  const [row] = await query<{ readonly state: string }>(
    `SELECT count(*) || ':' || coalesce(sum(hashtextextended(ROW(${STATE})::text, 0)::numeric), 0) AS state
     FROM run_results result JOIN labels l ON ${isLabelOf('l')}${andSeesLabel('l')} WHERE result.run_id = $1`,
    [id],
  );
  return row?.state ?? '';
}

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

const DISAGREEMENTS: readonly AgreementCell[] = ['false_pass', 'false_fail'];

/**
 * How a scorer of a run, or a person, agrees with people.
 *
 * @throws StoreError `run_not_found`, `scorer_not_found`, `invalid_cursor`, `invalid_request`
 */
export async function compareLabels(
  { pool, searches }: StoreContext,
  id: string,
  { limit, cursor, signal, scorer, by, other, cell }: AgreementRequest,
) {
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
    SELECT ${POSITION}, result.section, result.item_id, result.item_hash, l.person,
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
    `SELECT ${namedResult('result')}, person AS by, verdict, passed, cell
     FROM (${judged}) AS result
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

interface Output {
  readonly itemHash: Buffer | null;
  readonly outputHash: Buffer | null;
  readonly datasetId: string;
}

const OUTPUT = `result.item_hash AS "itemHash", result.output_hash AS "outputHash", run.dataset_id AS "datasetId"`;

const WRITE = `
  INSERT INTO labels AS label (item_hash, output_hash, person, verdict, note, types, dataset_id)
  VALUES ($1, $2, $3, $4, $5, $6::text[], $7)
  ON CONFLICT (item_hash, output_hash, person) DO UPDATE SET verdict = excluded.verdict, note = excluded.note,
    types = excluded.types, updated_at = excluded.updated_at, dataset_id = excluded.dataset_id, imported = false
  RETURNING ${LABEL_COLUMNS('label')}`;

/**
 * Stores what a person says of an output of an item, in whatever runs the item has it: in place of what the person said
 * before. A label without verdict, note and types is deleted.
 *
 * @throws StoreError `run_not_found`, `result_not_found`; `nothing_to_label` without an output
 */
export async function setLabel(
  { pool }: StoreContext,
  id: string,
  result: ResultName,
  { by, verdict, note, types }: Pick<ResultLabel, 'by' | 'verdict' | 'note' | 'types'>,
) {
  const query = queryOf(pool);
  const output = await findResult<Output>(query, id, result, OUTPUT);
  if (output === undefined) {
    await readRunColumns(query, id, 'id');
    throw new StoreError('result_not_found', 'The run has no such result.');
  }
  const { itemHash, outputHash } = output;
  if (itemHash === null || outputHash === null) {
    throw new StoreError('nothing_to_label', 'The result has no output that could be labelled.');
  }
  const key = [itemHash, outputHash, by];
  const { section, orderIndex: order_index, repetition } = result;
  return await inTransaction(pool, async (client) => {
    // Also for a label that is not there yet: one that the person gives twice at once is one change.
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `label ${itemHash.toString('hex')} ${outputHash.toString('hex')} ${by}`,
    ]);
    const { rows: before } = await client.query<Pick<StoredLabel, 'verdict' | 'note' | 'types'>>(
      'SELECT verdict, note, types FROM labels WHERE item_hash = $1 AND output_hash = $2 AND person = $3',
      key,
    );
    const [old] = before;
    const audit = (action: 'label.set' | 'label.delete', members: string[]): Promise<void> =>
      writeAudit(client, action, { kind: 'run', id }, { section, order_index, repetition, members });
    if (verdict === null && note === null && types.length === 0) {
      await client.query('DELETE FROM labels WHERE item_hash = $1 AND output_hash = $2 AND person = $3', key);
      if (old !== undefined) await audit('label.delete', []);
      return null;
    }
    const members = [
      ...((old?.verdict ?? null) === verdict ? [] : ['verdict']),
      ...((old?.note ?? null) === note ? [] : ['note']),
      ...(JSON.stringify(old?.types ?? []) === JSON.stringify(types) ? [] : ['types']),
    ];
    if (members.length > 0) await audit('label.set', members);
    const { rows } = await client.query<StoredLabel>(WRITE, [...key, verdict, note, types, output.datasetId]);
    return rows[0] as StoredLabel;
  });
}
