import type { ApiClient } from '@svc/client';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { dataOf } from '../../api/api-problem.ts';
import { plainText } from '../../ui/text/pretty-json.ts';
import { cellText } from '../results/view-csv.ts';
import type { Result, Run } from '../use-run.ts';

/** A result in a report. Longer texts than `MAX_TEXT` say how long they are. */
export interface ReportRow {
  readonly kind: 'error' | 'wrong' | 'right' | 'unscored';
  readonly id: string;
  readonly question: string;
  readonly expected: string;
  readonly got: string;
  readonly why: string;
  readonly score: number | null;
  readonly latencyMs: number | null;
}

/** Results that a report reads at most: even with the shortest texts it holds no more. */
const MAX_ROWS = 30_000;
const PAGE = 100;

/** What is kept of a text before it is known how many results there are. */
const MAX_TEXT = 2_000;

/** What is read, in the order of the report: errors and wrong results come first. */
const PARTS = [
  { status: 'failed' },
  { status: 'ok', passed: false },
  { status: 'ok', passed: true },
  { status: 'unscored' },
] as const;

/**
 * Reads the results for a report: errors and wrong ones first.
 *
 * @param onProgress receives how many were read
 */
export async function readReportRows(
  api: ApiClient,
  run: Run,
  onProgress: (read: number) => void,
): Promise<readonly ReportRow[]> {
  const rows: ReportRow[] = [];
  for (const part of PARTS) {
    let cursor: string | undefined;
    do {
      const { data, meta } = await dataOf(
        api.GET('/runs/{id}/results', {
          params: { path: { id: run.id }, query: { ...part, include: 'item', limit: PAGE, cursor } },
        }),
      );
      rows.push(...data.map(rowOf));
      onProgress(rows.length);
      cursor = meta.next_cursor ?? undefined;
    } while (cursor !== undefined && rows.length < MAX_ROWS);
  }
  return rows;
}

function rowOf(result: Result): ReportRow {
  const { status, passed } = result;
  const textOf = (column: string): string => plainText(cellText(column, result), MAX_TEXT);
  return {
    kind:
      status === 'failed'
        ? 'error'
        : status === 'unscored'
          ? 'unscored'
          : passed === true
            ? 'right'
            : 'wrong',
    id: plainText((result.item_id ?? `${result.section} ${result.order_index}`) as JsonValue, 100),
    question: textOf('question'),
    expected: textOf('expected'),
    got: textOf('output'),
    why: textOf('why'),
    score: result.score,
    latencyMs: result.latency_ms,
  };
}
