import type { FormErrors } from '@mantine/form';
import type { Paths } from '@svc/client';
import { type Config, nonEmpty, numberOf, objectOf, stated, type Typed } from './config-members.ts';
import { readObject, readPairs } from './provider/model-texts.ts';
import { checkerOf, EMPTY_CHECKER } from './scoring/checker-form.ts';
import { type ScorerRow, scorersOf } from './scoring/scorer-rows.ts';

export type NewRunBody = Paths['/runs']['post']['requestBody']['content']['application/json'];

export type ModelType = 'openai_compatible' | 'anthropic';

const NO_NUMBER = '' as Typed;
const NO_NAMES: readonly string[] = [];

const EMPTY_MODEL = {
  baseUrl: '',
  model: '',
  apiKeyEnv: '',
  temperature: NO_NUMBER,
  maxTokens: NO_NUMBER,
  /** Further members of the request body, as JSON text. */
  params: '',
  auth: 'bearer' as 'bearer' | 'api-key',
  /** A line each, `name=value`. */
  query: '',
  /** A line each, `name: value`. */
  headers: '',
};

/** A model to ask. */
export type ModelForm = Readonly<typeof EMPTY_MODEL>;

const EMPTY_JUDGE = {
  ...EMPTY_MODEL,
  isUsed: false,
  type: 'openai_compatible' as ModelType,
  threshold: NO_NUMBER,
  inputPrice: NO_NUMBER,
  outputPrice: NO_NUMBER,
};

/** The model that scores outputs. */
export type JudgeForm = Readonly<typeof EMPTY_JUDGE>;

export const EMPTY_SCORING = { checker: EMPTY_CHECKER, judge: EMPTY_JUDGE };

/** How outputs are scored. */
export type ScoringForm = Readonly<typeof EMPTY_SCORING>;

export const EMPTY_FORM = {
  ...EMPTY_SCORING,
  datasetId: null as string | null,
  /** Number of the version, or the beginning of its hash; null for the newest. */
  version: null as string | null,
  name: '',
  provider: 'openai_compatible' as ModelType | 'item_field' | 'echo',
  model: EMPTY_MODEL,
  pointer: '/answer',
  systemPrompt: '',
  promptTemplate: '',
  limit: NO_NUMBER,
  sections: NO_NAMES,
  types: NO_NAMES,
  tags: NO_NAMES,
  itemIds: NO_NAMES,
  sampleSize: NO_NUMBER,
  seed: NO_NUMBER,
  isOverride: false,
  scoresReasoning: false,
  allowsUnscored: false,
  repetitions: NO_NUMBER,
  concurrency: NO_NUMBER,
  requestsPerMinute: NO_NUMBER,
  maxRetries: NO_NUMBER,
  timeoutS: NO_NUMBER,
  maxConsecutiveFailures: NO_NUMBER,
  inputPrice: NO_NUMBER,
  outputPrice: NO_NUMBER,
  /** What the run may cost, in the currency of the prices. */
  maxCost: NO_NUMBER,
  /** Whether outputs of an earlier run are taken where it was asked the same. */
  isReused: false,
  /** The currency of all prices. */
  currency: 'USD',
  /** Several scorers, the main one first; empty for the checker and the judge alone. */
  scorers: [] as readonly ScorerRow[],
  /** Further models and prompt templates: each model runs with each template. */
  models: NO_NAMES,
  promptTemplates: NO_NAMES,
  /** The configuration of the run that is copied: what the form has no field for stays as it is there. */
  copied: {} as Config,
};

/** The form of a new run. */
export type RunForm = Readonly<typeof EMPTY_FORM>;

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
    // a member that the form leaves undefined hides that of the copied run
    provider,
    judge: isSeveral ? undefined : judge,
    scorers,
    select: nonEmpty(selectionOf(form)),
    system_prompt: form.systemPrompt || undefined,
    prompt_template: form.promptTemplate || undefined,
    checker: isSeveral ? undefined : checkerOf(form.checker, form.copied),
    checker_mode: !isSeveral && form.checker.type !== null && form.isOverride ? 'override' : undefined,
    reasoning: form.scoresReasoning ? 'score' : undefined,
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

/** A judge as the API takes it; undefined where none is used, null while something that it needs is absent. */
export function judgeOf(
  form: JudgeForm,
  { currency, copied = {} }: { readonly currency: string; readonly copied?: Config },
): object | null | undefined {
  if (!form.isUsed) return undefined;
  const model = modelMembers(form.type, form);
  if (model === null) return null;
  const own = { ...model, threshold: numberOf(form.threshold), price: priceOf(form, currency) };
  return stated({ ...objectOf(copied['judge']), ...own });
}

/** A model as the API takes it; null while something that it needs is absent, or a text of it is invalid. */
export function modelOf(type: ModelType, form: ModelForm): object | null {
  const members = modelMembers(type, form);
  return members === null ? null : stated(members);
}

/** The same, with the members that are undefined. */
function modelMembers(type: ModelType, form: ModelForm): Config | null {
  const { baseUrl, model, apiKeyEnv, temperature, maxTokens, auth } = form;
  const more = readObject(form.params).value;
  const query = type === 'anthropic' ? {} : readPairs(form.query, '=').value;
  const headers = readPairs(form.headers, ':').value;
  if (baseUrl.trim() === '' || model.trim() === '' || more === null || query === null || headers === null)
    return null;
  const params = stated({ temperature: numberOf(temperature), max_tokens: numberOf(maxTokens), ...more });
  return {
    type,
    base_url: baseUrl.trim(),
    model: model.trim(),
    params: nonEmpty(params),
    api_key_env: apiKeyEnv.trim() || undefined,
    auth: auth === 'bearer' || type === 'anthropic' ? undefined : auth,
    query: nonEmpty(query),
    extra_headers: nonEmpty(headers),
  };
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
