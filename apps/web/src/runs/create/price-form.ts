import { numberOf } from './model-form.ts';

/** What a model charges. Numbers are texts while they are typed. */
export interface PriceForm {
  readonly inputPrice: string | number;
  readonly outputPrice: string | number;
}

export const NO_PRICE: PriceForm = { inputPrice: '', outputPrice: '' };

/** A price as the API takes it; undefined where none is stated. */
export function priceOf({ inputPrice, outputPrice }: PriceForm, currency: string): object | undefined {
  const [input, output] = [numberOf(inputPrice), numberOf(outputPrice)];
  if (input === undefined && output === undefined) return undefined;
  return { input_per_million: input ?? 0, output_per_million: output ?? 0, currency };
}
