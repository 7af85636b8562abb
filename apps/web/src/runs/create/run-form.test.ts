import { CHECKERS, type FieldSchema, RUN_CONFIG } from '@svc/client';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { optionFields, partFields, restOf } from './config-fields.ts';
import { typedOf, valueOfTyped } from './config-values.ts';
import {
  checkerOf,
  EMPTY_FORM,
  formOf,
  problemsOf,
  toRequest,
  toRequests,
  typedChecker,
} from './run-form.ts';

const MODEL = { type: 'openai_compatible', base_url: 'http://model.example', model: 'm' };

const copied = (config: object) =>
  formOf({ dataset_id: 'd', dataset_version: 2, name: 'First', config } as never);

const form = (provider: object = {}, config: object = {}) => ({
  ...EMPTY_FORM,
  datasetId: 'd',
  config: {
    ...EMPTY_FORM.config,
    ...config,
    provider: { ...EMPTY_FORM.config.provider, ...MODEL, ...provider },
  },
});

describe('the form of a run', () => {
  it('shows and sends a member of the schema that the console does not know', () => {
    const schema: FieldSchema = {
      properties: {
        ...RUN_CONFIG.properties,
        warm_up_items: { type: 'integer', minimum: 1, maximum: 9, description: 'asked `first`', default: 2 },
      },
    };
    expect(partFields('pace', schema).at(-1)).toEqual({
      ...{ name: 'config.warm_up_items', pointer: '/config/warm_up_items', kind: 'number', min: 1, max: 9 },
      ...{ label: 'Warm up items', description: 'Asked first' },
    });
    const typed = typedOf(restOf(schema), { warm_up_items: 4 });
    expect(typed).toMatchObject({ warm_up_items: 4, concurrency: '' });
    expect(valueOfTyped(restOf(schema), typed)).toMatchObject({ warm_up_items: 4 });
  });

  it('has a field for every member, in a part of it', () => {
    const fields = ['prompt', 'selection', 'scoring', 'pace'].flatMap((part) => partFields(part));
    const members = new Set(fields.map(({ name }) => name.split('.')[1]));
    expect([...members].sort()).toEqual(Object.keys(restOf().properties ?? {}).sort());
  });

  it('sends everything that a copied run was configured with', () => {
    const config = {
      provider: {
        ...MODEL,
        ...{ params: { temperature: 0.5, max_tokens: 9, top_p: 0.9 }, api_key_env: 'SVC_PROVIDER_A' },
        ...{ auth: 'api-key', query: { version: '1' }, extra_headers: { 'x-team': 'tests' } },
      },
      judge: {
        ...MODEL,
        threshold: 0.7,
        price: { input_per_million: 1, output_per_million: 0, currency: 'EUR' },
      },
      select: { limit: 8, tags: ['a'], item_ids: ['x', '7', 7], sample: { n: 5, seed: 3 } },
      ...{ system_prompt: 'Be brief. ', prompt_template: '{prompt}\n' },
      ...{ checker: { type: 'regex', pattern: '^4', later: 1 }, checker_mode: 'override' },
      ...{ reasoning: 'score', allow_unscored: true, cluster_by: '/meta/passage' },
      ...{ repetitions: 2, concurrency: 9, max_retries: 0, timeout_ms: 1500, max_consecutive_failures: 3 },
      ...{ requests_per_minute: 60, max_cost: { amount: 2 }, reuse: { run_id: 'latest' }, later: true },
      price: { input_per_million: 1, output_per_million: 2, currency: 'EUR' },
    };
    expect(toRequest(copied(config))).toEqual({
      ...{ dataset_id: 'd', version: '2', name: 'First (copy)', config },
    });
    const scorers = [
      { name: 'main', checker: { type: 'includes', words: true } },
      { name: 'judged', judge: { ...MODEL } },
      { name: 'other', judge: { ...MODEL, model: 'n' } },
      { name: 'said' },
    ];
    expect(toRequest(copied({ provider: { type: 'echo' }, scorers }))?.config).toEqual({
      ...{ provider: { type: 'echo' }, scorers },
    });
  });

  it('states no more than was typed, and completes a price', () => {
    expect(toRequest(form({}, {}))?.config).toEqual({ provider: MODEL });
    const price = { input_per_million: '', output_per_million: 10, currency: 'USD' };
    expect(toRequest(form({}, { price }))?.config.price).toEqual({ ...price, input_per_million: 0 });
    expect(toRequest(form({ base_url: ' ' }))).toBeNull();
  });

  it('keeps every digit of parameters, and reads only the texts that the provider has', () => {
    const params = { temperature: 0.5, $more: '{"seed": 9007199254740993}' };
    expect(canonicalJson(toRequest(form({ params }))?.config as never)).toContain(
      '"params":{"seed":9007199254740993,"temperature":0.5}',
    );
    expect(toRequest(form({ params: { $more: '{"a": 1,}' } }))).toBeNull();
    const query = form({ query: 'version' });
    expect(problemsOf(query)).toEqual({
      'config.provider.query': 'Line 1 must be name=value, got "version".',
    });
    expect(toRequest(query)).toBeNull();
    // the Messages API has no query, so its field is neither shown nor read
    expect(toRequest(form({ type: 'anthropic', query: 'version' }))?.config.provider).toEqual({
      ...MODEL,
      type: 'anthropic',
    });
    expect(toRequest(form({ type: 'anthropic', extra_headers: 'anthropic-beta' }))).toBeNull();
  });

  it('makes a run of each model with each prompt', () => {
    const many = { ...form(), name: 'N', models: ['n'], templates: ['Think. {prompt}', ' '] };
    expect(toRequests(many)?.map(({ name }) => name)).toEqual([
      'N, m, prompt 1',
      'N, m, prompt 2',
      'N, n, prompt 1',
      'N, n, prompt 2',
    ]);
    expect(toRequests({ ...form(), models: ['n'] })?.map(({ name }) => name)).toEqual([null, null]);
  });
});

describe('the form of a checker', () => {
  it.each<[unknown, object | undefined]>([
    [undefined, undefined],
    ['numeric', { type: 'numeric' }],
    [
      { type: 'numeric', tolerance: 0.5 },
      { type: 'numeric', tolerance: 0.5 },
    ],
    [
      { type: 'exact_match', trim: false, ignore_case: true },
      { type: 'exact_match', trim: false, ignore_case: true },
    ],
    [{ type: 'exact_match', trim: true }, { type: 'exact_match' }],
    [
      { type: 'regex', pattern: '^4', flags: null },
      { type: 'regex', pattern: '^4' },
    ],
    [
      { type: 'tool_calls', order: 'strict' },
      { type: 'tool_calls', order: 'strict' },
    ],
    [
      { type: 'numeric', later: 1 },
      { type: 'numeric', later: 1 },
    ],
  ])('sends %j of a copied run as %j', (checker, sent) => {
    expect(checkerOf(typedChecker(checker), checker)).toEqual(sent);
  });

  it('has a field for every option of its type alone', () => {
    for (const { name, options } of CHECKERS) {
      const shown = optionFields(name, 'checker').map(({ pointer }) => pointer);
      expect(shown.sort()).toEqual(
        Object.keys(options)
          .map((option) => `/config/checker/${option}`)
          .sort(),
      );
    }
  });
});
