import type { Verdict } from '@svc/jsonl-v23/internal';
import type { StoreContext } from '../../context.ts';
import {
  cursorAfter,
  decodeCursor,
  MAX_PAGE_BYTES,
  type Page,
  type PageRequest,
  Parameters,
} from '../../database/page.ts';
import { runNotFound, searchableText } from '../../database/values.ts';
import { createReadQuery, type ReadQuery } from '../../postgres/read-query.ts';
import { type NamedResult, namedResult, positionOf } from '../run-results.ts';
import {
  andSeesLabel,
  byName,
  bytesOfLabel,
  isLabelOf,
  LABEL_COLUMNS,
  type StoredLabel,
} from './result-labels.ts';

/** Which labels of a run's results to read; a label passes if it passes all of these. */
export interface LabelConditions {
  readonly verdict?: Verdict | undefined;
  /** Name of the person. */
  readonly by?: string | undefined;
  /** One of its types. */
  readonly type?: string | undefined;
  /** Name of the section of the result. */
  readonly section?: string | undefined;
}

/** A label and the result that it is of. Where several results have one output, each has the label. */
export interface LabelOfResult extends NamedResult, StoredLabel {}

/** What the labels of a run's results are like together. */
export interface LabelSummary {
  /** Results with a label. */
  readonly results: number;
  readonly labels: number;
  readonly pass: number;
  readonly fail: number;
  /** The 100 with most labels. */
  readonly people: readonly { readonly by: string; readonly labels: number }[];
  /** The 100 with most labels. */
  readonly types: readonly { readonly type: string; readonly labels: number }[];
}

export interface LabelsPage extends Page<LabelOfResult> {
  readonly summary: LabelSummary;
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
): Promise<LabelsPage> {
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

async function summarizeLabels(
  query: ReadQuery,
  id: string,
  conditions: LabelConditions,
): Promise<LabelSummary> {
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
export async function* readLabels(
  query: ReadQuery,
  id: string,
  conditions: LabelConditions,
): AsyncGenerator<readonly LabelOfResult[], void, undefined> {
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
const STATE = [
  'item_hash',
  'output_hash',
  'person',
  'verdict',
  'note',
  'types',
  'created_at',
  'updated_at',
  'imported',
]
  .map((name) => `l.${name}`)
  .join(', ');

/** Names the state of the labels of a run's results: any change gives another text. */
export async function stateOfLabels(query: ReadQuery, id: string): Promise<string> {
  const [row] = await query<{ readonly state: string }>(
    `SELECT count(*) || ':' || coalesce(sum(hashtextextended(ROW(${STATE})::text, 0)::numeric), 0) AS state
     FROM run_results result JOIN labels l ON ${isLabelOf('l')}${andSeesLabel('l')} WHERE result.run_id = $1`,
    [id],
  );
  return row?.state ?? '';
}
