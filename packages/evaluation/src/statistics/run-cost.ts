import type { Price } from '../config/run-config.ts';

/** What the providers of a run charge; null if unknown. Both are in one currency. */
export interface RunPrices {
  readonly model: Price | null;
  readonly judge: Price | null;
}

/** Tokens of a run. */
interface RunTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly judgeInputTokens: number;
  readonly judgeOutputTokens: number;
}

/** What the tokens of a run cost: those of the model and those of the judge, each if it has a price. Null without one. */
export function runCost(
  { model, judge }: RunPrices,
  tokens: RunTokens,
): { readonly amount: number; readonly currency: string } | null {
  const currency = model?.currency ?? judge?.currency;
  if (currency === undefined) return null;
  const amount =
    costOf(model, tokens.inputTokens, tokens.outputTokens) +
    costOf(judge, tokens.judgeInputTokens, tokens.judgeOutputTokens);
  return { amount, currency };
}

/** What tokens cost at a price. */
export function costOf(price: Price | null, inputTokens: number, outputTokens: number): number {
  if (price === null) return 0;
  return (inputTokens * price.input_per_million + outputTokens * price.output_per_million) / 1e6;
}
