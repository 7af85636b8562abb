import type pg from 'pg';
import { searchableText } from '../../database/values.ts';
import { ofRun } from '../../items/version-sql.ts';
import type { ReadQuery } from '../../postgres/read-query.ts';

/** Names a result of a run. */
export interface ResultName {
  readonly section: string;
  readonly orderIndex: number;
  readonly repetition: number;
}

/** Reads some columns of a result; undefined if the run has no such result. @param columns SQL about `run_results result` */
export async function findResult<Row extends pg.QueryResultRow>(
  query: ReadQuery,
  runId: string,
  { section, orderIndex, repetition }: ResultName,
  columns: string,
): Promise<Row | undefined> {
  const [row] = await query<Row>(
    `SELECT ${columns}
     FROM runs run JOIN version_sections s ON ${ofRun('run')} AND s.name = $2
       JOIN run_results result ON result.run_id = run.id AND result.section_order_index = s.order_index
         AND result.order_index = $3::int AND result.repetition = $4::int
     WHERE run.id = $1 ORDER BY s.order_index LIMIT 1`,
    [runId, searchableText(section), orderIndex, repetition],
  );
  return row;
}
