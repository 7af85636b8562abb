import type { FormErrors } from '@mantine/form';
import type { Paths } from '@svc/client';
import {
  type CheckerForm,
  type Config,
  checkerOf,
  nonEmpty,
  numberOf,
  objectOf,
  stated,
  type Typed,
  unset,
} from './config-members.ts';
import { readObject, readPairs } from './provider/model-texts.ts';
import { type ScorerRow, scorersOf } from './scoring/scorer-rows.ts';

export type NewRunBody = Paths['/runs']['post']['requestBody']['content']['application/json'];

/** A model to ask. */
export interface ModelForm {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKeyEnv: string;
  readonly temperature: Typed;
  readonly maxTokens: Typed;
  /** Further members of the request body, as JSON text. */
  readonly params: string;
  readonly auth: 'bearer' | 'api-key';
  /** A line each, `name=value`. */
  readonly query: string;
  /** A line each, `name: value`. */
  readonly headers: string;
}

export type ModelType = 'openai_compatible' | 'anthropic';

/** The model that scores outputs. */
export interface JudgeForm extends ModelForm {
  readonly isUsed: boolean;
  readonly type: ModelType;
  readonly threshold: Typed;
  readonly inputPrice: Typed;
  readonly outputPrice: Typed;
}

/** How outputs are scored. */
export interface ScoringForm {
  readonly checker: CheckerForm;
  readonly judge: JudgeForm;
}

/** The form of a new run. */
export interface RunForm extends ScoringForm {
  readonly datasetId: string | null;
  /** Number of the version, or the beginning of its hash; null for the newest. */
  readonly version: string | null;
  readonly name: string;
  readonly provider: ModelType | 'item_field' | 'echo';
  readonly model: ModelForm;
  readonly pointer: string;
  readonly systemPrompt: string;
  readonly promptTemplate: string;
  readonly limit: Typed;
  readonly sections: readonly string[];
  readonly types: readonly string[];
  readonly tags: readonly string[];
  readonly itemIds: readonly string[];
  readonly sampleSize: Typed;
  readonly seed: Typed;
  readonly isOverride: boolean;
  readonly allowsUnscored: boolean;
  readonly repetitions: Typed;
  readonly concurrency: Typed;
  readonly requestsPerMinute: Typed;
  readonly maxRetries: Typed;
  readonly timeoutS: Typed;
  readonly maxConsecutiveFailures: Typed;
  readonly inputPrice: Typed;
  readonly outputPrice: Typed;
  /** What the run may cost, in the currency of the prices. */
  readonly maxCost: Typed;
  /** Whether outputs of an earlier run are taken where it was asked the same. */
  readonly isReused: boolean;
  /** The currency of all prices. */
  readonly currency: string;
  /** Several scorers, the main one first; empty for the checker and the judge alone. */
  readonly scorers: readonly ScorerRow[];
  /** Further models and prompt templates: each model runs with each template. */
  readonly models: readonly string[];
  readonly promptTemplates: readonly string[];
  /** The configuration of the run that is copied: what the form has no field for stays as it is there. */
  readonly copied: Config;
}

const EMPTY_MODEL: ModelForm = {
  baseUrl: '',
  model: '',
  apiKeyEnv: '',
  temperature: '',
  maxTokens: '',
  params: '',
  auth: 'bearer',
  query: '',
  headers: '',
};

export const EMPTY_SCORING: ScoringForm = {
  checker: { type: null, pattern: '', tolerance: '' },
  judge: {
    ...EMPTY_MODEL,
    isUsed: false,
    type: 'openai_compatible',
    threshold: '',
    inputPrice: '',
    outputPrice: '',
  },
};

export const EMPTY_FORM: RunForm = {
  ...EMPTY_SCORING,
  datasetId: null,
  version: null,
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
  isOverride: false,
  allowsUnscored: false,
  repetitions: '',
  concurrency: '',
  requestsPerMinute: '',
  maxRetries: '',
  timeoutS: '',
  maxConsecutiveFailures: '',
  inputPrice: '',
  outputPrice: '',
  maxCost: '',
  isReused: false,
  currency: 'USD',
  scorers: [],
  models: [],
  promptTemplates: [],
  copied: {},
};

/** The request of a form; null while something that it needs is absent or invalid. */
export function toRequest(form: RunForm): NewRunBody | null {
  const provider = providerOf(form);
  const judge = judgeOf(form.judge, form);
  if (form.datasetId === null || provider === null || judge === null) return null;
  const timeoutS = numberOf(form.timeoutS);
  const maxCost = numberOf(form.maxCost);
  const isSeveral = form.scorers.length > 0;
  const scorers = isSeveral ? scorersOf(form.scorers, judge) : undefined;
  if (scorers === null) return null;
  const config = {
    ...form.copied,
    ...unset(CONFIG_MEMBERS),
    provider,
    judge: isSeveral ? undefined : judge,
    scorers,
    select: nonEmpty(selectionOf(form)),
    system_prompt: form.systemPrompt || undefined,
    prompt_template: form.promptTemplate || undefined,
    checker: isSeveral ? undefined : checkerOf(form.checker, form.copied),
    checker_mode: !isSeveral && form.checker.type !== null && form.isOverride ? 'override' : undefined,
    allow_unscored: form.allowsUnscored || undefined,
    repetitions: numberOf(form.repetitions),
    concurrency: numberOf(form.concurrency),
    requests_per_minute: numberOf(form.requestsPerMinute),
    max_retries: numberOf(form.maxRetries),
    timeout_ms: timeoutS === undefined ? undefined : Math.round(1000 * timeoutS),
    max_consecutive_failures: numberOf(form.maxConsecutiveFailures),
    price: priceOf(form, form.currency),
    max_cost: maxCost === undefined ? undefined : { amount: maxCost },
    reuse: form.isReused ? (form.copied['reuse'] ?? 'latest') : undefined,
  };
  return {
    dataset_id: form.datasetId,
    ...(form.version !== null && { version: form.version }),
    name: form.name.trim() || null,
    config: stated(config) as unknown as NewRunBody['config'],
  };
}

/** The members of a configuration for which the form has fields. */
const CONFIG_MEMBERS = [
  'provider',
  'judge',
  'scorers',
  'select',
  'system_prompt',
  'prompt_template',
  'checker',
  'checker_mode',
  'allow_unscored',
  'repetitions',
  'concurrency',
  'requests_per_minute',
  'max_retries',
  'timeout_ms',
  'max_consecutive_failures',
  'price',
  'max_cost',
  'reuse',
] as const;

/** A judge as the API takes it; undefined where none is used, null while something that it needs is absent. */
export function judgeOf(
  form: JudgeForm,
  { currency, copied = {} }: { readonly currency: string; readonly copied?: Config },
): object | null | undefined {
  if (!form.isUsed) return undefined;
  const model = modelOf(form.type, form);
  if (model === null) return null;
  const before = objectOf(copied['judge']);
  const own = { ...unset(MODEL_MEMBERS), ...model, threshold: numberOf(form.threshold) };
  return stated({ ...before, ...own, price: priceOf(form, currency) });
}

const MODEL_MEMBERS = [
  'base_url',
  'model',
  'params',
  'api_key_env',
  'auth',
  'query',
  'extra_headers',
] as const;

/** A model as the API takes it; null while something that it needs is absent, or a text of it is invalid. */
export function modelOf(type: ModelType, form: ModelForm): object | null {
  const { baseUrl, model, apiKeyEnv, temperature, maxTokens, auth } = form;
  const more = readObject(form.params).value;
  const query = type === 'anthropic' ? {} : readPairs(form.query, '=').value;
  const headers = readPairs(form.headers, ':').value;
  if (baseUrl.trim() === '' || model.trim() === '' || more === null || query === null || headers === null)
    return null;
  const params = stated({ temperature: numberOf(temperature), max_tokens: numberOf(maxTokens), ...more });
  return stated({
    type,
    base_url: baseUrl.trim(),
    model: model.trim(),
    params: nonEmpty(params),
    api_key_env: apiKeyEnv.trim() || undefined,
    auth: auth === 'bearer' || type === 'anthropic' ? undefined : auth,
    query: nonEmpty(query),
    extra_headers: nonEmpty(headers),
  });
}

/** What is wrong with the texts of a form, by the path of its field. */
export function problemsOf(form: ScoringForm & Partial<Pick<RunForm, 'provider' | 'model'>>): FormErrors {
  const { provider, model, judge } = form;
  return Object.fromEntries(
    Object.entries({
      ...(model !== undefined && (provider === 'openai_compatible' || provider === 'anthropic')
        ? modelProblems('model', provider, model)
        : {}),
      ...(judge.isUsed ? modelProblems('judge', judge.type, judge) : {}),
    }).filter(([, problem]) => problem !== null),
  );
}

function modelProblems(path: string, type: ModelType, { params, query, headers }: ModelForm): FormErrors {
  return {
    [`${path}.params`]: readObject(params).problem,
    [`${path}.query`]: type === 'anthropic' ? null : readPairs(query, '=').problem,
    [`${path}.headers`]: readPairs(headers, ':').problem,
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
    sample: n === undefined ? undefined : stated({ n, seed: numberOf(seed) }),
  });
}

/** A price as the API takes it; undefined where none is stated. */
function priceOf(
  { inputPrice, outputPrice }: Pick<JudgeForm, 'inputPrice' | 'outputPrice'>,
  currency: string,
): object | undefined {
  const [input, output] = [numberOf(inputPrice), numberOf(outputPrice)];
  if (input === undefined && output === undefined) return undefined;
  return { input_per_million: input ?? 0, output_per_million: output ?? 0, currency };
}
