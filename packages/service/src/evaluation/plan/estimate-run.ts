import { markFiles } from '../assets/marked-files.ts';
import { type ModelConfig, modelOf, promptsOf, type RunConfig } from '../config/run-config.ts';
import { prepareItem } from '../prepare-item.ts';
import type { WireFormat } from '../provider.ts';
import { estimateInputTokens, requestMembers } from '../request/request-body.ts';
import type { RunItem } from '../run-session.ts';
import { runCost } from '../statistics/run-cost.ts';
import type { CheckRunner } from '../threads/check-runner.ts';

/** What a run's requests to its model are expected to take, as the API shows it. It excludes the judge's requests. */
export type RunEstimate = NonNullable<Awaited<ReturnType<typeof estimateRun>>>;

export interface EstimateFacts {
  readonly sample: readonly RunItem[];
  readonly requests: number;
  /** Mean output tokens of an earlier run of the same model; null without one. */
  readonly meanOutputTokens: number | null;
}

/**
 * Estimates what a run takes: input by the prompts of a sample, output by an earlier run, or else by the limit of the
 * request.
 */
export async function estimateRun(
  config: RunConfig,
  { sample, requests, meanOutputTokens }: EstimateFacts,
  checks: Pick<CheckRunner, 'run'>,
  signal: AbortSignal,
) {
  const asked = modelOf(config);
  if (asked === null) return null;
  const { model, wireFormat } = asked;
  const inputs: number[] = [];
  for (const item of sample) {
    if (item.parts === null) continue;
    const { parts, files } = markFiles(item.parts, item.linkedFiles);
    const deps = { provider: { usesMessages: true, wireFormat }, checks };
    const prepared = await prepareItem(deps, parts, files, promptsOf(config), signal);
    signal.throwIfAborted();
    if ('request' in prepared.asked) inputs.push(estimateInputTokens(prepared.asked.request));
  }
  const meanInput = inputs.reduce((sum, tokens) => sum + tokens, 0) / Math.max(1, inputs.length);
  const inputTokens = Math.round(meanInput * requests);
  const output = meanOutputTokens ?? outputLimit(model, wireFormat);
  const outputTokens = output === null ? null : Math.round(output * requests);
  const price = config.price ?? null;
  return {
    input_tokens: inputTokens,
    /** Null if neither an earlier run nor `max_tokens` says how long outputs are. */
    output_tokens: outputTokens,
    cost:
      price === null || outputTokens === null
        ? null
        : runCost({ model: price, judge: null }, { inputTokens, outputTokens, judgeCost: 0 }),
  };
}

/** The most tokens that a request to a model allows for an output; null if it states none. */
export function outputLimit(model: ModelConfig, wireFormat: WireFormat): number | null {
  const members: Readonly<Record<string, unknown>> = requestMembers(model, wireFormat);
  for (const name of ['max_completion_tokens', 'max_tokens']) {
    const limit = members[name];
    if (typeof limit === 'number' && Number.isInteger(limit) && limit > 0) return limit;
  }
  return null;
}
