import type { Price } from '../config/run-config.ts';

/**
 * What the tokens of a run cost at its price; those of the judge do not count. Null without a price.
 *
 * @param tokens of the provider
 */
export function runCost(
  price: Price | null,
  tokens: { readonly inputTokens: number; readonly outputTokens: number },
): { readonly amount: number; readonly currency: string } | null {
  if (price === null) return null;
  const { inputPerMillion, outputPerMillion, currency } = price;
  const amount = (tokens.inputTokens * inputPerMillion + tokens.outputTokens * outputPerMillion) / 1e6;
  return { amount, currency };
}
