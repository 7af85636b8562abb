import type { Price } from '../config/run-config.ts';

/** What the providers of a run charge; null if unknown. Both are in one currency. */
export interface RunPrices {
  readonly model: Price | null;
  readonly judge: Price | null;
}

/** Tokens of a run, or of a result. */
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

/** The prices of a stored configuration, from the JSON texts of its members. That of an imported run may be any object. */
export function readPrices(model: string | null, judge: string | null): RunPrices {
  return { model: readPrice(model), judge: readPrice(judge) };
}

/** What tokens cost at a price. */
export function costOf(price: Price | null, inputTokens: number, outputTokens: number): number {
  if (price === null) return 0;
  return (inputTokens * price.input_per_million + outputTokens * price.output_per_million) / 1e6;
}

interface StatedPrice {
  readonly input_per_million: number;
  readonly output_per_million: number;
  readonly currency?: unknown;
}

function isPrice(value: unknown): value is StatedPrice {
  if (typeof value !== 'object' || value === null) return false;
  return ['input_per_million', 'output_per_million'].every((name) =>
    Number.isFinite((value as Record<string, unknown>)[name]),
  );
}

function readPrice(json: string | null): Price | null {
  const price: unknown = json === null ? null : JSON.parse(json);
  if (!isPrice(price)) return null;
  return { ...price, currency: typeof price.currency === 'string' ? price.currency : 'USD' };
}
