import { EMPTY_MODEL, type ModelForm, type ModelType, modelOf, numberOf, stated } from './model-form.ts';

/** The model that scores outputs. */
export interface JudgeForm extends ModelForm {
  readonly isUsed: boolean;
  readonly type: ModelType;
  readonly threshold: string | number;
}

export const NO_JUDGE: JudgeForm = {
  ...EMPTY_MODEL,
  isUsed: false,
  type: 'openai_compatible',
  threshold: '',
};

/** A judge as the API takes it; undefined where none is used, null while something that it needs is absent. */
export function judgeOf(form: JudgeForm): object | null | undefined {
  if (!form.isUsed) return undefined;
  const model = modelOf(form.type, form);
  return model === null ? null : { ...model, ...stated({ threshold: numberOf(form.threshold) }) };
}
