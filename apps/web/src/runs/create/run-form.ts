import type { Paths } from '@svc/client';

export type NewRunBody = Paths['/runs']['post']['requestBody']['content']['application/json'];
export type RunConfig = NewRunBody['config'];

/** What the form of a new run states. Numbers are texts while they are typed. */
export interface RunForm {
  readonly datasetId: string | null;
  readonly name: string;
  readonly provider: 'openai_compatible' | 'anthropic' | 'item_field' | 'echo';
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKeyEnv: string;
  readonly temperature: string | number;
  readonly maxTokens: string | number;
  readonly pointer: string;
  readonly systemPrompt: string;
  readonly promptTemplate: string;
  readonly limit: string | number;
  readonly sections: readonly string[];
  readonly types: readonly string[];
  readonly tags: readonly string[];
  readonly sampleSize: string | number;
  readonly checker: string | null;
  readonly pattern: string;
  readonly tolerance: string | number;
  readonly isOverride: boolean;
  readonly repetitions: string | number;
  readonly concurrency: string | number;
  readonly requestsPerMinute: string | number;
  readonly inputPrice: string | number;
  readonly outputPrice: string | number;
  readonly currency: string;
}

export const EMPTY_FORM: RunForm = {
  datasetId: null,
  name: '',
  provider: 'openai_compatible',
  baseUrl: '',
  model: '',
  apiKeyEnv: '',
  temperature: '',
  maxTokens: '',
  pointer: '/answer',
  systemPrompt: '',
  promptTemplate: '',
  limit: '',
  sections: [],
  types: [],
  tags: [],
  sampleSize: '',
  checker: null,
  pattern: '',
  tolerance: '',
  isOverride: false,
  repetitions: 1,
  concurrency: 8,
  requestsPerMinute: '',
  inputPrice: '',
  outputPrice: '',
  currency: 'USD',
};

/** Checkers that need nothing but their parameters. */
export const CHECKERS: readonly string[] = [
  'exact_match',
  'includes',
  'regex',
  'numeric',
  'choice',
  'json_equal',
];

/** The request of a form; null while something that it needs is absent. */
export function toRequest(form: RunForm): NewRunBody | null {
  if (form.datasetId === null) return null;
  const provider = providerOf(form);
  if (provider === null) return null;
  const config = {
    provider,
    ...stated({
      select: nonEmpty({
        ...stated({ limit: numberOf(form.limit) }),
        ...(form.sections.length === 0 ? {} : { sections: form.sections }),
        ...(form.types.length === 0 ? {} : { types: form.types }),
        ...(form.tags.length === 0 ? {} : { tags: form.tags }),
        ...(numberOf(form.sampleSize) === undefined
          ? {}
          : { sample: { n: numberOf(form.sampleSize), seed: 1 } }),
      }),
      system_prompt: form.systemPrompt || undefined,
      prompt_template: form.promptTemplate || undefined,
      checker: checkerOf(form),
      checker_mode: form.checker !== null && form.isOverride ? 'override' : undefined,
      repetitions: numberOf(form.repetitions),
      concurrency: numberOf(form.concurrency),
      requests_per_minute: numberOf(form.requestsPerMinute),
      price: priceOf(form),
    }),
  };
  return {
    dataset_id: form.datasetId,
    name: form.name.trim() || null,
    config: config as unknown as RunConfig,
  };
}

function providerOf(form: RunForm): object | null {
  const { provider, baseUrl, model, apiKeyEnv, pointer } = form;
  if (provider === 'echo') return { type: provider };
  if (provider === 'item_field') return { type: provider, pointer };
  if (baseUrl === '' || model === '') return null;
  const params = nonEmpty(
    stated({ temperature: numberOf(form.temperature), max_tokens: numberOf(form.maxTokens) }),
  );
  return {
    type: provider,
    base_url: baseUrl,
    model,
    ...stated({ params, api_key_env: apiKeyEnv || undefined }),
  };
}

function checkerOf({ checker, pattern, tolerance }: RunForm): object | undefined {
  if (checker === null) return undefined;
  return {
    type: checker,
    ...stated({
      pattern: checker === 'regex' ? pattern : undefined,
      tolerance: checker === 'numeric' ? numberOf(tolerance) : undefined,
    }),
  };
}

function priceOf({ inputPrice, outputPrice, currency }: RunForm): object | undefined {
  const [input, output] = [numberOf(inputPrice), numberOf(outputPrice)];
  if (input === undefined && output === undefined) return undefined;
  return { input_per_million: input ?? 0, output_per_million: output ?? 0, currency };
}

function numberOf(value: string | number): number | undefined {
  return value === '' || !Number.isFinite(Number(value)) ? undefined : Number(value);
}

/** The members that are not undefined. */
function stated(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function nonEmpty(members: Readonly<Record<string, unknown>>): object | undefined {
  return Object.keys(members).length === 0 ? undefined : members;
}
