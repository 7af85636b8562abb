import type { Paths } from '@svc/client';
import { type CheckerForm, checkerOf, NO_CHECKER } from './checker-form.ts';
import { type JudgeForm, judgeOf, NO_JUDGE } from './judge-form.ts';
import { EMPTY_MODEL, type ModelForm, modelOf, nonEmpty, numberOf, stated } from './model-form.ts';
import { NO_PRICE, type PriceForm, priceOf } from './price-form.ts';

export type NewRunBody = Paths['/runs']['post']['requestBody']['content']['application/json'];

/** What the form of a new run states. Numbers are texts while they are typed. */
export interface RunForm extends PriceForm {
  readonly datasetId: string | null;
  readonly name: string;
  readonly provider: 'openai_compatible' | 'anthropic' | 'item_field' | 'echo';
  readonly model: ModelForm;
  readonly pointer: string;
  readonly systemPrompt: string;
  readonly promptTemplate: string;
  readonly limit: string | number;
  readonly sections: readonly string[];
  readonly types: readonly string[];
  readonly tags: readonly string[];
  readonly itemIds: readonly string[];
  readonly sampleSize: string | number;
  readonly seed: string | number;
  readonly checker: CheckerForm;
  readonly isOverride: boolean;
  readonly allowsUnscored: boolean;
  readonly judge: JudgeForm;
  readonly repetitions: string | number;
  readonly concurrency: string | number;
  readonly requestsPerMinute: string | number;
  readonly maxRetries: string | number;
  readonly timeoutS: string | number;
  readonly maxConsecutiveFailures: string | number;
  /** Of the prices of the model and of the judge. */
  readonly currency: string;
}

export const EMPTY_FORM: RunForm = {
  ...NO_PRICE,
  datasetId: null,
  name: '',
  provider: 'openai_compatible',
  model: EMPTY_MODEL,
  pointer: '/answer',
  systemPrompt: '',
  promptTemplate: '',
  limit: '',
  sections: [],
  types: [],
  tags: [],
  itemIds: [],
  sampleSize: '',
  seed: '',
  checker: NO_CHECKER,
  isOverride: false,
  allowsUnscored: false,
  judge: NO_JUDGE,
  repetitions: '',
  concurrency: '',
  requestsPerMinute: '',
  maxRetries: '',
  timeoutS: '',
  maxConsecutiveFailures: '',
  currency: 'USD',
};

/** The request of a form; null while something that it needs is absent. */
export function toRequest(form: RunForm): NewRunBody | null {
  const provider = providerOf(form);
  const judge = judgeOf(form.judge, form.currency);
  if (form.datasetId === null || provider === null || judge === null) return null;
  const timeoutS = numberOf(form.timeoutS);
  const config = {
    provider,
    ...stated({
      judge,
      select: nonEmpty(selectionOf(form)),
      system_prompt: form.systemPrompt || undefined,
      prompt_template: form.promptTemplate || undefined,
      checker: checkerOf(form.checker),
      checker_mode: form.checker.checker !== null && form.isOverride ? 'override' : undefined,
      allow_unscored: form.allowsUnscored || undefined,
      repetitions: numberOf(form.repetitions),
      concurrency: numberOf(form.concurrency),
      requests_per_minute: numberOf(form.requestsPerMinute),
      max_retries: numberOf(form.maxRetries),
      timeout_ms: timeoutS === undefined ? undefined : Math.round(1000 * timeoutS),
      max_consecutive_failures: numberOf(form.maxConsecutiveFailures),
      price: priceOf(form, form.currency),
    }),
  };
  return {
    dataset_id: form.datasetId,
    name: form.name.trim() || null,
    config: config as unknown as NewRunBody['config'],
  };
}

function providerOf({ provider, model, pointer }: RunForm): object | null {
  if (provider === 'echo') return { type: provider };
  if (provider === 'item_field') return { type: provider, pointer };
  return modelOf(provider, model);
}

function selectionOf(form: RunForm): Readonly<Record<string, unknown>> {
  const { limit, sections, types, tags, itemIds, sampleSize, seed } = form;
  const listed = (names: readonly string[]): readonly string[] | undefined =>
    names.length === 0 ? undefined : names;
  const n = numberOf(sampleSize);
  return stated({
    limit: numberOf(limit),
    sections: listed(sections),
    types: listed(types),
    tags: listed(tags),
    item_ids: listed(itemIds)?.flatMap((id) => (/^-?\d{1,15}$/.test(id) ? [id, Number(id)] : [id])),
    sample: n === undefined ? undefined : { n, ...stated({ seed: numberOf(seed) }) },
  });
}
