import { getMember, isJsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { linesOf } from '../../api/lines-of.ts';

/** Latencies and tokens of results. */
export interface Measures {
  readonly results: number;
  /** Whether these are all results. */
  readonly isWhole: boolean;
  readonly latenciesMs: readonly number[];
  readonly outputTokens: readonly number[];
}

/** Where reading stops: a page keeps two numbers of each result. */
const MAX_RESULTS = 200_000;

/** Results between two looks at the clock of the page. */
const STEP = 1_000;

/** Names of the output tokens in what providers report. */
const TOKEN_NAMES = ['completion_tokens', 'output_tokens'];

/** Reads the latencies and output tokens of the results of a run, as a stream of just these two columns. */
export async function readMeasures(id: string, signal: AbortSignal): Promise<Measures> {
  const latenciesMs: number[] = [];
  const outputTokens: number[] = [];
  let results = 0;
  for await (const line of linesOf(`/runs/${id}/results.jsonl?columns=latency_ms,usage`, signal)) {
    if (results >= MAX_RESULTS) return { results, isWhole: false, latenciesMs, outputTokens };
    results += 1;
    const row = parseJson(line);
    if (!isJsonObject(row)) continue;
    const latencyMs = getMember(row, 'latency_ms');
    if (typeof latencyMs === 'number') latenciesMs.push(latencyMs);
    const tokens = tokensOf(getMember(row, 'usage'));
    if (tokens !== undefined) outputTokens.push(tokens);
    if (results % STEP === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  return { results, isWhole: true, latenciesMs, outputTokens };
}

function tokensOf(usage: JsonValue | undefined): number | undefined {
  if (usage === undefined || !isJsonObject(usage)) return undefined;
  return TOKEN_NAMES.map((name) => getMember(usage, name)).find((value) => typeof value === 'number');
}
