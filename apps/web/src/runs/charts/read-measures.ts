import type { ApiClient, ResponseOf } from '@svc/client';
import { dataOf } from '../../api/api-problem.ts';

/** Latencies and tokens of results. */
export interface Measures {
  readonly latenciesMs: readonly number[];
  readonly outputTokens: readonly number[];
}

/** How many results the histograms are made of. */
export const MEASURED_RESULTS = 1_000;

const PAGE = 100;

type Page = ResponseOf<'/runs/{id}/results', 'get'>;

/** Names of the output tokens in what providers report. */
const TOKEN_NAMES = ['completion_tokens', 'output_tokens'];

/** Reads the latencies and output tokens of the first results of a run. */
export async function readMeasures(api: ApiClient, id: string, signal: AbortSignal): Promise<Measures> {
  const latenciesMs: number[] = [];
  const outputTokens: number[] = [];
  let cursor: string | undefined;
  for (let read = 0; read < MEASURED_RESULTS; read += PAGE) {
    const params = { path: { id }, query: { limit: PAGE, cursor } };
    const { data, meta }: Page = await dataOf(api.GET('/runs/{id}/results', { params, signal }));
    for (const { latency_ms, usage } of data) {
      if (latency_ms !== null) latenciesMs.push(latency_ms);
      const tokens = TOKEN_NAMES.map((name) => usage?.[name]).find((value) => typeof value === 'number');
      if (typeof tokens === 'number') outputTokens.push(tokens);
    }
    if (meta.next_cursor === null) break;
    cursor = meta.next_cursor;
  }
  return { latenciesMs, outputTokens };
}
