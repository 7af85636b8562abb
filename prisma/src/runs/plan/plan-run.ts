import type { PlanCounts, PlannedAnswer, PlannedPattern, RunSelection, ScoringFacts } from '@svc/evaluation';
import { type ReadQuery, readFrom } from '@svc/postgres';
import type { StoreContext } from '../../context.ts';
import { datasetNotFound } from '../../database/dataset-row.ts';
import { Parameters } from '../../database/page.ts';
import { SNAPSHOT } from '../../database/transaction-settings.ts';
import { isUuid } from '../../database/values.ts';
import { itemsInRanges, ofParts, partsOf, readRanges } from '../../items/item-ranges.ts';
import { countReusable, type ReuseRequest } from './count-reusable.ts';
import { scoringOf } from './scorability-sql.ts';
import { selectItems } from './select-items.ts';

/** What a run would do. */
export interface PlanRequest {
  readonly datasetId: string;
  /** By default the newest. */
  readonly version?: number | undefined;
  /** Null for all items. */
  readonly selection: RunSelection | null;
  readonly scoring: ScoringFacts;
  /** Absent if no outputs are taken from an earlier run. */
  readonly reuse?: ReuseRequest | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a run would do, with the patterns that score items. */
export interface PlannedRun {
  readonly counts: PlanCounts;
  /** Those of most items. */
  readonly patterns: readonly PlannedPattern[];
  /** Answers that only the checker can tell to be usable: those of most items, which count as scored. */
  readonly answers: readonly PlannedAnswer[];
  /** Requests that the earlier run has an answer to. */
  readonly reusable: number;
}

const MAX_PATTERNS = 1_000;
/** More than the longest pattern that is allowed takes as JSON text. */
const MAX_PATTERN_BYTES = 16_384;

const MAX_ANSWERS = 5_000;
/** Bytes of one answer with its choices, and of all of them. */
const MAX_ANSWER_BYTES = 65_536;
const MAX_ANSWERS_BYTES = 8 * 1024 * 1024;

/** The beginning of a longer pattern is as invalid as the whole, and as JSON text it must end. */
const shortened = (text: string): string =>
  `CASE WHEN octet_length(${text}) > ${MAX_PATTERN_BYTES} THEN '"' || repeat('a', ${MAX_PATTERN_BYTES}) || '"' ELSE ${text} END`;

/**
 * See `RunStore.plan`. The database reads the items, for as long as the caller waits; searches share a part of its
 * connections.
 */
export async function planRun(
  { pool, searches }: Pick<StoreContext, 'pool' | 'searches'>,
  { datasetId, version, selection, scoring, reuse, signal }: PlanRequest,
): Promise<PlannedRun> {
  if (!isUuid(datasetId)) throw datasetNotFound(datasetId);
  using _permit = await searches.acquire(signal);
  return await readFrom(
    pool,
    async (query) => {
      const [dataset] = await query('SELECT 1 FROM datasets WHERE id = $1', [datasetId]);
      if (dataset === undefined) throw datasetNotFound(datasetId);
      const parameters = new Parameters();
      const { add, values } = parameters;
      const items = await plannedItems(query, { datasetId, version: version ?? null }, selection, parameters);
      const reusable =
        reuse === undefined ? 0 : await countReusable(query, items, reuse, new Parameters(values));
      const scored = scoringOf(items, scoring, add);
      const rows = await query<ScoringRow>(
        `SELECT scoring, count(*), coalesce(bool_or(has_pattern), false) AS "hasPattern"
         FROM (${scored}) AS scored GROUP BY scoring ORDER BY scoring`,
        values,
      );
      const hasPatterns = rows.some((row) => row.scoring === 'scored' && row.hasPattern);
      const patterns = hasPatterns
        ? await query<PlannedPattern>(
            `SELECT ${shortened('pattern')} AS pattern, ${shortened('flags')} AS flags, count(*)::float8 AS items
             FROM (${scored}) AS scored WHERE has_pattern AND scoring = 'scored'
             GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT ${MAX_PATTERNS}`,
            values,
          )
        : [];
      const answers = rows.some((row) => row.scoring === 'doubtful')
        ? await query<PlannedAnswer>(
            `SELECT type, answer, choices, items FROM (
               SELECT *, sum(bytes) OVER (ORDER BY items DESC, type, answer, choices) AS total FROM (
                 SELECT kind AS type, answer, choices, count(*)::float8 AS items,
                   octet_length(answer) + coalesce(octet_length(choices), 0) AS bytes
                 FROM (${scored}) AS scored WHERE scoring = 'doubtful' GROUP BY 1, 2, 3
               ) AS answers WHERE bytes <= ${MAX_ANSWER_BYTES}
             ) AS answers WHERE total <= ${MAX_ANSWERS_BYTES} ORDER BY total LIMIT ${MAX_ANSWERS}`,
            values,
          )
        : [];
      return { counts: countsOf(rows), patterns, answers, reusable };
    },
    signal,
    `${SNAPSHOT}; SET LOCAL statement_timeout = 0`,
  );
}

/** SQL for the items that a run would have: rows `i` of `items`. */
async function plannedItems(
  query: ReadQuery,
  version: { readonly datasetId: string; readonly version: number | null },
  selection: RunSelection | null,
  parameters: Parameters,
): Promise<string> {
  const columns = ['type', 'payload', 'answer', 'checker', 'assets', 'linked_files', 'item_hash'];
  const select = `SELECT ${columns.map((name) => `i.${name}`).join(', ')}`;
  if (selection === null) {
    return `${select} FROM ${itemsInRanges(await readRanges(query, version), parameters)} i`;
  }
  const { sql, partIds } = await selectItems(query, version, selection, parameters);
  return `${select} FROM (${sql}) AS chosen JOIN items i ON ${ofParts(parameters.add(partsOf(partIds)))}
    AND i.part_id = chosen.part_id AND i.ordinal = chosen.ordinal`;
}

interface ScoringRow {
  readonly scoring: string;
  readonly count: string;
  readonly hasPattern: boolean;
}

function countsOf(rows: readonly ScoringRow[]): PlanCounts {
  const counts = Object.fromEntries(rows.map((row) => [row.scoring, Number(row.count)]));
  const { scored = 0, doubtful = 0, judged = 0, ...unscorable } = counts;
  const items = rows.reduce((sum, row) => sum + Number(row.count), 0);
  return { items, scored: scored + doubtful, judged, unscorable };
}
