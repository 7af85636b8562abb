import { EMPTY_MODEL, type ModelForm, type ModelType, modelOf, numberOf, stated } from './model-form.ts';
import { NO_PRICE, type PriceForm, priceOf } from './price-form.ts';

/** The model that scores outputs. */
export interface JudgeForm extends ModelForm, PriceForm {
  readonly isUsed: boolean;
  readonly type: ModelType;
  readonly threshold: string | number;
}

export const NO_JUDGE: JudgeForm = {
  ...EMPTY_MODEL,
  ...NO_PRICE,
  isUsed: false,
  type: 'openai_compatible',
  threshold: '',
};

/**
 * A judge as the API takes it; undefined where none is used, null while something that it needs is absent.
 *
 * @param currency of its price
 */
export function judgeOf(form: JudgeForm, currency: string): object | null | undefined {
  if (!form.isUsed) return undefined;
  const model = modelOf(form.type, form);
  if (model === null) return null;
  return { ...model, ...stated({ threshold: numberOf(form.threshold), price: priceOf(form, currency) }) };
}
