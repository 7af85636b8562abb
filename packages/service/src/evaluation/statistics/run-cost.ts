import type { Price } from '../config/run-config.ts';

/** What the model of a run and its first judge with a price charge; null if unknown. All are in one currency. */
export interface RunPrices {
  readonly model: Price | null;
  readonly judge: Price | null;
}

/**
 * What a run, or a result, costs: the tokens of the model, if it has a price, and what its judges charged. Null if neither
 * has a price.
 */
export function runCost(
  { model, judge }: RunPrices,
  {
    inputTokens,
    outputTokens,
    judgeCost,
  }: Readonly<Record<'inputTokens' | 'outputTokens' | 'judgeCost', number>>,
) {
  const currency = model?.currency ?? judge?.currency;
  if (currency === undefined) return null;
  return { amount: roundCost(costOf(model, inputTokens, outputTokens) + judgeCost), currency };
}

/** The prices of a stored configuration, from the JSON texts of its members. In an imported run they may be any objects. */
export function readPrices(model: string | null, judge: string | null): RunPrices {
  return { model: readPrice(model), judge: readPrice(judge) };
}

export function costOf(price: Price | null, inputTokens: number, outputTokens: number): number {
  if (price === null) return 0;
  return roundCost((inputTokens * price.input_per_million + outputTokens * price.output_per_million) / 1e6);
}

/** To 12 significant digits, without the noise of binary sums such as 0.30000000000000004. */
export const roundCost = (amount: number): number => Number(amount.toPrecision(12));

function readPrice(json: string | null): Price | null {
  const price: Price = { currency: 'USD', ...(json === null ? null : JSON.parse(json)) };
  const { input_per_million: input, output_per_million: output, currency } = price;
  if (!Number.isFinite(input) || !Number.isFinite(output)) return null;
  return { ...price, currency: typeof currency === 'string' ? currency : 'USD' };
}
