import { errorWords, foldMessage, type RunFailure } from '../../../evaluation/index.ts';
import type { StoreContext } from '../../context.ts';
import { readStoredJson } from '../../database/read-stored-json.ts';
import { createReadQuery } from '../../postgres/read-query.ts';
import { type NamedResult, namedResult } from '../run-results.ts';
import { readRunColumns } from '../run-row.ts';

/** Errors of a run that say the same, but for numbers and identifiers. */
export interface RunErrorGroup {
  /** Names the group, also as a filter of results. */
  readonly group: string;
  readonly code: string;
  /** The provider's message, else the service's; folded. */
  readonly message: string;
  readonly count: number;
  /** The first results with such an error. */
  readonly examples: readonly RunErrorExample[];
}

export interface RunErrorExample
  extends Pick<NamedResult, 'section' | 'orderIndex' | 'repetition' | 'itemId'> {
  /** As it was. */
  readonly message: string;
}

const MAX_GROUPS = 100;
const MAX_EXAMPLES = 3;

const GROUPS = `
  WITH groups AS (
    SELECT error_group, count(*)::float8 AS count FROM run_results
    WHERE run_id = $1 AND error_group IS NOT NULL GROUP BY error_group ORDER BY 2 DESC, 1 LIMIT ${MAX_GROUPS}
  )
  SELECT groups.error_group AS "group", groups.count, ${namedResult('example')}, example.error
  FROM groups CROSS JOIN LATERAL (
    SELECT * FROM run_results WHERE run_id = $1 AND error_group = groups.error_group
    ORDER BY section_order_index, order_index, repetition LIMIT ${MAX_EXAMPLES}
  ) AS example
  ORDER BY groups.count DESC, groups.error_group, example.section_order_index, example.order_index, example.repetition`;

type ExampleRow = Omit<RunErrorExample, 'message'> &
  Pick<RunErrorGroup, 'group' | 'count'> & { readonly error: string };

/** The errors of a run in groups: the 100 with most results. @throws StoreError `run_not_found` */
export async function groupErrors(
  { pool, searches }: StoreContext,
  id: string,
  signal?: AbortSignal,
): Promise<readonly RunErrorGroup[]> {
  using _permit = await searches.acquire(signal);
  const query = createReadQuery(pool, signal);
  const rows = await query<ExampleRow>(GROUPS, [id]);
  if (rows.length === 0) await readRunColumns(query, id, 'id');
  return [...Map.groupBy(rows, ({ group }) => group)].map(([group, of]) => {
    const errors = of.map(({ error }) => readStoredJson(error) as unknown as RunFailure);
    const [first] = errors as [RunFailure];
    return {
      group,
      code: first.code,
      message: foldMessage(errorWords(first)),
      count: of[0]?.count ?? 0,
      examples: of.map(({ section, orderIndex, repetition, itemId }, index) => {
        const error = errors[index] ?? first;
        return { section, orderIndex, repetition, itemId, message: errorWords(error) };
      }),
    };
  });
}
