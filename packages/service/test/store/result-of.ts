import type { RunItem, RunResult } from '@svc/service/evaluation';

/** A result of an item, as a run stores it. */
export function resultOf(item: RunItem, facts: Partial<RunResult> = {}): RunResult {
  const { section, sectionOrderIndex, orderIndex } = item;
  return {
    ...{ section, sectionOrderIndex, orderIndex, repetition: 1, itemId: orderIndex },
    ...{
      status: 'ok',
      output: 'new',
      reasoning: null,
      score: 1,
      passed: true,
      explanation: null,
      error: null,
    },
    ...{ latencyMs: 1, usage: { prompt_tokens: 2, completion_tokens: 3 }, judgeUsage: null, judgeCost: null },
    ...{
      finishReason: 'stop',
      attempts: 1,
      omittedAssets: null,
      scoredBy: null,
      scores: null,
      traceId: null,
      redacted: 0,
    },
    ...{ reused: false, usageReused: null },
    ...facts,
  };
}
