import type { Price } from '../config/run-config.ts';

/** What the model of a run and its first judge with a price charge; null if unknown. All are in one currency. */
export interface RunPrices {
  readonly model: Price | null;
  readonly judge: Price | null;
}

/** What a run, or a result, used. */
interface Taken {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What its judges charged. */
  readonly judgeCost: number;
}

/** What a run costs: the tokens of the model, if it has a price, and its judges. Null if neither has a price. */
export function runCost(
  { model, judge }: RunPrices,
  { inputTokens, outputTokens, judgeCost }: Taken,
): { readonly amount: number; readonly currency: string } | null {
  const currency = model?.currency ?? judge?.currency;
  if (currency === undefined) return null;
  return { amount: roundCost(costOf(model, inputTokens, outputTokens) + judgeCost), currency };
}

/** The prices of a stored configuration, from the JSON texts of its members. In an imported run they may be any objects. */
export function readPrices(model: string | null, judge: string | null): RunPrices {
  return { model: readPrice(model), judge: readPrice(judge) };
}

/** What tokens cost at a price. */
export function costOf(price: Price | null, inputTokens: number, outputTokens: number): number {
  if (price === null) return 0;
  return roundCost((inputTokens * price.input_per_million + outputTokens * price.output_per_million) / 1e6);
}

/** To 12 significant digits, without the noise of binary sums such as 0.30000000000000004. */
export const roundCost = (amount: number): number => Number(amount.toPrecision(12));

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
