import { canonicalJson } from '@svc/jsonl-v23/json';
import type { Run } from '../use-run.ts';
import { type Config, objectOf, type Typed } from './config-members.ts';
import { textOfPairs } from './provider/model-texts.ts';
import { EMPTY_FORM, type JudgeForm, type ModelForm, type RunForm } from './run-form.ts';
import { checkerFormOf } from './scoring/checker-form.ts';
import { rowsOf } from './scoring/scorer-rows.ts';

/** A form with everything that a run was configured with, for another one. */
export function formOf(run: Pick<Run, 'dataset_id' | 'dataset_version' | 'name' | 'config'>): RunForm {
  const config = run.config as unknown as Config;
  const provider = objectOf(config['provider']);
  const select = objectOf(config['select']);
  const sample = objectOf(select['sample']);
  const { rows, judge } = rowsOf(config);
  const timeoutMs = config['timeout_ms'];
  const price = objectOf(config['price']);
  const { type } = provider;
  return {
    datasetId: run.dataset_id,
    version: String(run.dataset_version),
    name: run.name === null ? '' : `${run.name} (copy)`.slice(0, 255),
    provider: type === 'anthropic' || type === 'item_field' || type === 'echo' ? type : 'openai_compatible',
    model: modelForm(provider),
    pointer: typeof provider['pointer'] === 'string' ? provider['pointer'] : EMPTY_FORM.pointer,
    systemPrompt: textOf(config['system_prompt']),
    promptTemplate: textOf(config['prompt_template']),
    limit: typed(select['limit']),
    sections: textsOf(select['sections']),
    types: textsOf(select['types']),
    tags: textsOf(select['tags']),
    itemIds: [...new Set(textsOf(select['item_ids']))],
    sampleSize: typed(sample['n']),
    seed: typed(sample['seed']),
    checker: checkerFormOf(config['checker']),
    isOverride: config['checker_mode'] === 'override',
    scoresReasoning: config['reasoning'] === 'score',
    allowsUnscored: config['allow_unscored'] === true,
    judge: {
      ...modelForm(judge),
      ...prices(objectOf(judge['price'])),
      isUsed: judge['model'] !== undefined,
      type: judge['type'] === 'anthropic' ? 'anthropic' : 'openai_compatible',
      threshold: typed(judge['threshold']),
    },
    repetitions: typed(config['repetitions']),
    concurrency: typed(config['concurrency']),
    requestsPerMinute: typed(config['requests_per_minute']),
    maxRetries: typed(config['max_retries']),
    timeoutS: typeof timeoutMs === 'number' ? timeoutMs / 1000 : '',
    maxConsecutiveFailures: typed(config['max_consecutive_failures']),
    ...prices(price),
    maxCost: typed(objectOf(config['max_cost'])['amount']),
    isReused: config['reuse'] !== undefined && config['reuse'] !== null,
    currency: textOf(price['currency']) || EMPTY_FORM.currency,
    scorers: rows,
    models: [],
    promptTemplates: [],
    copied: config,
  };
}

function modelForm(model: Config): ModelForm {
  const { temperature, max_tokens, ...params } = objectOf(model['params']);
  return {
    baseUrl: textOf(model['base_url']),
    model: textOf(model['model']),
    apiKeyEnv: textOf(model['api_key_env']),
    temperature: typed(temperature),
    maxTokens: typed(max_tokens),
    params: Object.keys(params).length === 0 ? '' : canonicalJson(params),
    auth: model['auth'] === 'api-key' ? 'api-key' : 'bearer',
    query: textOfPairs(objectOf(model['query']), '='),
    headers: textOfPairs(objectOf(model['extra_headers']), ': '),
  };
}

const prices = (price: Config): Pick<JudgeForm, 'inputPrice' | 'outputPrice'> => ({
  inputPrice: typed(price['input_per_million']),
  outputPrice: typed(price['output_per_million']),
});

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
/** A number for a field; an exact one as text, which has every digit. */
const typed = (value: unknown): Typed =>
  typeof value === 'number' ? value : value === undefined || value === null ? '' : String(value);
