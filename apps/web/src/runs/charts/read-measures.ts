import { linesOf } from '../../api/streams.ts';
import type { Result } from '../queries.ts';
import { outputTokensOf } from '../results/listed-result.tsx';

/** Where reading stops: a page keeps two numbers of each result. */
const MAX_RESULTS = 200_000;

/** Results between two looks at the clock of the page. */
const STEP = 1_000;

/** After how long the measures of a run that works are read again: all of them are. */
export const refreshMs = (results: number): number => 5_000 * Math.max(1, results / 5_000);

/** Reads the latencies and output tokens of the results of a run, as a stream of just these two columns. */
export async function readMeasures(id: string, signal: AbortSignal) {
  const latenciesMs: number[] = [];
  const outputTokens: number[] = [];
  let results = 0;
  for await (const line of linesOf(`/runs/${id}/results.jsonl?columns=latency_ms,usage`, signal)) {
    if (results >= MAX_RESULTS) return { results, isWhole: false, latenciesMs, outputTokens };
    results += 1;
    const result = JSON.parse(line) as Pick<Result, 'latency_ms' | 'usage'>;
    if (result.latency_ms !== null) latenciesMs.push(result.latency_ms);
    const tokens = outputTokensOf(result);
    if (tokens !== null) outputTokens.push(tokens);
    if (results % STEP === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  return { results, isWhole: true, latenciesMs, outputTokens };
}
