import { readFileSync } from 'node:fs';
import { ExactNumber, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { RunError } from '../run-error.ts';
import { parseAddedScorers, parseRescore, parseRunConfig, parseStoredRunConfig } from './parse-run-config.ts';
import { RUN_CONFIG_SCHEMA } from './run-config-schema.ts';

const secretNames: { readonly secret: string[]; readonly notSecret: string[] } = JSON.parse(
  readFileSync(new URL('../../../../../conformance/secrets.json', import.meta.url), 'utf8'),
);

const openai = { type: 'openai_compatible', base_url: 'https://host/v1', model: 'm' };

function problems(value: JsonValue): [string, string][] {
  try {
    parseRunConfig(value);
  } catch (error) {
    expect(error).toBeInstanceOf(RunError);
    expect(error).toMatchObject({ code: 'invalid_request' });
    return (error as RunError).errors.map(({ path, message }) => [path, message]);
  }
  return [];
}

describe('parseRunConfig', () => {
  it('takes names of scorers that an object can have as keys', () => {
    const named = (name: string): JsonObject => ({ provider: openai, scorers: [{ name }] });
    expect(problems(named('constructor'))).toEqual([]);
    const path = '/config/scorers/0/name';
    const rule = 'must have 1 to 64 letters, digits, `_`, `.` and `-`, and not be `__proto__`.';
    expect(problems(named('__proto__'))).toEqual([[path, `${path} ${rule}`]]);
  });

  it('adds the defaults', () => {
    expect(parseRunConfig({ provider: openai })).toEqual({
      provider: {
        type: 'openai_compatible',
        base_url: 'https://host/v1',
        model: 'm',
        params: {},
      },
      repetitions: 1,
      concurrency: 8,
      max_retries: 5,
      timeout_ms: 120_000,
      max_consecutive_failures: 20,
    });
  });

  const whole = {
    provider: {
      ...openai,
      auth: 'api-key',
      query: { 'api-version': '2024-10-21' },
      extra_headers: { 'OpenAI-Organization': 'org-1', 'x-trace': 'on' },
      base_url: 'https://host/v1//',
      params: { temperature: 0, stop: null },
      api_key_env: 'SVC_PROVIDER_A',
    },
    judge: {
      base_url: 'http://127.0.0.1:1',
      model: 'j',
      threshold: 0.7,
      api_key_env: 'SVC_PROVIDER_B',
      price: { input_per_million: 1, output_per_million: 2, currency: 'EUR' },
    },
    select: {
      limit: 10,
      sections: ['s'],
      types: ['exact'],
      tags: ['t'],
      item_ids: ['a', 5],
      sample: { n: 3, seed: 'x' },
    },
    system_prompt: 'Be brief.',
    prompt_template: '{prompt}\n{choices}{{{meta.unit}}}',
    checker: { type: 'numeric', tolerance: 0.5 },
    checker_mode: 'override',
    allow_unscored: true,
    repetitions: 3,
    concurrency: 2,
    max_retries: 0,
    timeout_ms: 1000,
    max_consecutive_failures: 5,
    requests_per_minute: 60,
    price: { input_per_million: 2.5, output_per_million: 10, currency: 'EUR' },
  };

  it('keeps every member, and adds defaults', () => {
    expect(parseRunConfig(whole)).toEqual({
      ...whole,
      provider: { ...whole.provider, base_url: 'https://host/v1' },
      judge: { ...whole.judge, type: 'openai_compatible', params: {} },
    });
  });

  it.each<[JsonValue, unknown]>([
    [{ provider: 'echo' }, { type: 'echo' }],
    [{ provider: { type: 'echo' } }, { type: 'echo' }],
    [
      { provider: 'item_field', pointer: '/meta/output' },
      { type: 'item_field', pointer: '/meta/output' },
    ],
    [{ provider: { type: 'item_field', pointer: '' } }, { type: 'item_field', pointer: '' }],
    [
      { provider: 'openai_compatible', base_url: 'https://h', model: 'm', judge: null },
      { type: 'openai_compatible', base_url: 'https://h', model: 'm', params: {} },
    ],
  ])('reads the provider of %j', (value, provider) =>
    expect(parseRunConfig(value).provider).toEqual(provider),
  );

  it.each<JsonValue>([
    whole,
    { provider: { type: 'anthropic', base_url: 'https://h', model: 'm', params: { max_tokens: 9 } } },
    { provider: 'echo', checker: 'exact_match' },
    { provider: 'echo' },
    { provider: 'item_field', pointer: '/a~1b' },
  ])('reads what it writes: %j', (value) => {
    const config = parseRunConfig(value);
    expect(parseRunConfig(config as unknown as JsonObject)).toEqual(config);
    const ajv = new Ajv2020({ allowUnionTypes: true }).addVocabulary([
      'x-rule',
      'x-example',
      'discriminator',
    ]);
    expect(ajv.validate(RUN_CONFIG_SCHEMA, config)).toBe(true);
  });

  it('keeps numbers of params exactly', () => {
    const config = parseRunConfig(
      parseJson(
        '{"provider":"openai_compatible","base_url":"https://h","model":"m","params":{"seed":12345678901234567890}}',
      ),
    );
    expect(config.provider).toMatchObject({ params: { seed: new ExactNumber('12345678901234567890') } });
  });

  it('keeps ids of any size, and reads other numbers as doubles', () => {
    const text =
      '{"provider":"echo","select":{"item_ids":[12345678901234567890]},"judge":{"base_url":"https://h","model":"m","threshold":0.30000000000000000001}}';
    const { select, judge } = parseRunConfig(parseJson(text));
    expect([select?.item_ids, judge?.threshold]).toEqual([[new ExactNumber('12345678901234567890')], 0.3]);
  });

  it.each<[JsonValue, string]>([
    [null, '/config'],
    [[], '/config'],
    [{}, '/config/provider'],
    [{ provider: 5 }, '/config/provider'],
    [{ provider: 'other' }, '/config/provider/type'],
    [{ provider: {} }, '/config/provider/type'],
    [{ provider: { type: 'constructor' } }, '/config/provider/type'],
    [{ provider: 'echo', pointer: '/x' }, '/config/pointer'],
    [{ provider: { type: 'echo', more: 1 } }, '/config/provider/more'],
    [{ provider: 'item_field' }, '/config/provider/pointer'],
    [{ provider: { type: 'item_field', pointer: 'x' } }, '/config/provider/pointer'],
    [{ provider: { type: 'item_field', pointer: '/~2' } }, '/config/provider/pointer'],
    [{ provider: { ...openai, model: '' } }, '/config/provider/model'],
    [{ provider: { ...openai, base_url: 'ftp://host' } }, '/config/provider/base_url'],
    [{ provider: { ...openai, base_url: 'https://' } }, '/config/provider/base_url'],
    [{ provider: { ...openai, base_url: 'https://u:p@host' } }, '/config/provider/base_url'],
    [{ provider: { ...openai, base_url: 'https://host/?key=x' } }, '/config/provider/base_url'],
    [{ provider: { ...openai, auth: 'basic' } }, '/config/provider/auth'],
    [
      { provider: { ...openai, query: { 'subscription-key': 'k' } } },
      '/config/provider/query/subscription-key',
    ],
    [{ provider: { ...openai, query: { token: 'k' } } }, '/config/provider/query/token'],
    [{ provider: { ...openai, extra_headers: { Cookie: 'a' } } }, '/config/provider/extra_headers/Cookie'],
    [
      { provider: { ...openai, extra_headers: { 'x-api-key': 'a' } } },
      '/config/provider/extra_headers/x-api-key',
    ],
    [{ provider: { ...openai, extra_headers: { 'x-a': 'a\nb' } } }, '/config/provider/extra_headers/x-a'],
    [{ provider: { ...openai, type: 'anthropic', base_url: 'https://h/v1' } }, '/config/provider/base_url'],
    [{ provider: 'echo', select: { limit: 0 } }, '/config/select/limit'],
    [{ provider: 'echo', select: { sample: { seed: 1 } } }, '/config/select/sample/n'],
    [{ provider: 'echo', prompt_template: 'a { b' }, '/config/prompt_template'],
    [{ provider: 'echo', prompt_template: '{answer}' }, '/config/prompt_template'],
    [{ provider: 'echo', checker: 'script' }, '/config/checker'],
    [{ provider: 'echo', checker: { type: 'numeric', tolerance: -1 } }, '/config/checker'],
    [{ provider: 'echo', checker_mode: 'override' }, '/config/checker_mode'],
    [{ provider: 'echo', price: { input_per_million: 1 } }, '/config/price/output_per_million'],
    [{ provider: { ...openai, params: [] } }, '/config/provider/params'],
    [{ provider: { ...openai, params: { model: 'x' } } }, '/config/provider/params/model'],
    [{ provider: { ...openai, params: { stream: true } } }, '/config/provider/params/stream'],
    [{ provider: { ...openai, api_key_env: 'PATH' } }, '/config/provider/api_key_env'],
    [{ provider: { ...openai, api_key_env: 'SVC_PROVIDER_' } }, '/config/provider/api_key_env'],
    [{ provider: { ...openai, api_key_env: 'SVC_PROVIDER_A_ORIGINS' } }, '/config/provider/api_key_env'],
    [{ provider: { ...openai, api_key_env: 'SVC_PROVIDER_ORIGINS' } }, '/config/provider/api_key_env'],
    [{ provider: { ...openai, api_key_env: 'SVC_PROVIDER_ALLOWED_HOSTS' } }, '/config/provider/api_key_env'],
    [{ provider: { ...openai, base_url: 'http://169.254.169.254' } }, '/config/provider/base_url'],
    [{ provider: { ...openai, base_url: 'http://0xa9fea9fe/v1' } }, '/config/provider/base_url'],
    [{ provider: { ...openai, base_url: 'http://[::ffff:a9fe:a9fe]' } }, '/config/provider/base_url'],
    [{ provider: 'echo', judge: { base_url: 'https://[fe80::1]:8', model: 'm' } }, '/config/judge/base_url'],
    [{ provider: 'echo', repetitions: 0 }, '/config/repetitions'],
    [{ provider: 'echo', repetitions: 1.5 }, '/config/repetitions'],
    [{ provider: 'echo', concurrency: 257 }, '/config/concurrency'],
    [{ provider: 'echo', max_retries: -1 }, '/config/max_retries'],
    [{ provider: 'echo', timeout_ms: '1' }, '/config/timeout_ms'],
    [{ provider: 'echo', timeout_ms: new ExactNumber('12345678901234567890') }, '/config/timeout_ms'],
    [{ provider: 'echo', judge: {} }, '/config/judge/base_url'],
    [
      { provider: 'echo', judge: { base_url: 'https://h', model: 'm', threshold: 2 } },
      '/config/judge/threshold',
    ],
    [
      { provider: 'echo', judge: { base_url: 'https://h', model: 'm', params: { n: 2 } } },
      '/config/judge/params/n',
    ],
    [{ provider: 'echo', 'a/b~': 1 }, '/config/a~1b~0'],
  ])('rejects %j at %s', (value, path) => {
    expect(problems(value).map(([at]) => at)).toContain(path);
  });

  it.each([...secretNames.secret, 'API-KEY', 'headers', 'extra_headers'])(
    'rejects a member %s anywhere, once, without repeating its value',
    (name) => {
      const secret = 'sk-0123456789';
      const config = {
        provider: { ...openai, [name]: secret, params: { deep: [{ [name]: secret }] } },
        [name]: secret,
      };
      const found = problems(config);
      expect(found.map(([path]) => path).sort()).toEqual(
        [`/config/${name}`, `/config/provider/${name}`, `/config/provider/params/deep/0/${name}`].sort(),
      );
      expect(JSON.stringify(found)).not.toContain(secret);
    },
  );

  it('does not repeat a key in place of its name', () => {
    const secret = 'sk-0123456789';
    expect(() => parseRunConfig({ provider: { ...openai, api_key_env: secret } })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining(secret) }),
    );
    expect(JSON.stringify(problems({ provider: { ...openai, api_key_env: secret } }))).not.toContain(secret);
  });

  it.each(secretNames.notSecret)('accepts a param %s', (name) => {
    expect(problems({ provider: { ...openai, params: { deep: { [name]: 'x' } } } })).toEqual([]);
  });

  it('accepts params that only look like secrets', () => {
    const params = {
      max_tokens: 5,
      logit_bias: { '50256': -100 },
      tools: [{ function: { parameters: { properties: { password: { type: 'string' }, headers: {} } } } }],
      response_format: {
        schema: {
          properties: { token: true, cookies: { $ref: '#/$defs/cookies' } },
          dependentRequired: { password: ['token'] },
          $defs: { cookies: { type: 'object' } },
        },
      },
    };
    expect(problems({ provider: { ...openai, params } })).toEqual([]);
  });

  it.each<[string, () => JsonValue]>([
    [
      'unknown members',
      () => Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`a${index}`, 0])),
    ],
    ['secrets', () => ({ list: Array.from({ length: 60_000 }, () => ({ token: 0 })) })],
    [
      'secrets, deep in the body',
      () => {
        let value: JsonValue = Array.from({ length: 60_000 }, () => ({ token: 0 }));
        for (let depth = 0; depth < 240; depth++) value = [value];
        return { deep: value };
      },
    ],
    [
      'secrets under a long name',
      () => ({ ['x'.repeat(900_000)]: Array.from({ length: 5_000 }, () => ({ token: 0 })) }),
    ],
  ])('is fast with very many %s', (_name, make) => {
    const value = { provider: 'echo', ...(make() as JsonObject) };
    const startedAt = performance.now();
    const found = problems(value);
    // up to minutes where the cost is the square of the number
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    expect(found.length).toBe(100);
    expect(JSON.stringify(found).length).toBeLessThan(10_000_000);
  });

  it('lists all problems with their locations in the body', () => {
    const value = { provider: { ...openai, model: 1 }, repetitions: 0, more: true };
    expect(
      problems(value)
        .map(([path]) => path)
        .sort(),
    ).toEqual(['/config/more', '/config/provider/model', '/config/repetitions']);
    expect(() => parseRunConfig({}, '/body')).toThrow(
      expect.objectContaining({
        errors: [{ path: '/body/provider', message: '/body/provider is missing.' }],
      }),
    );
  });
});

describe('a member of the wrong form', () => {
  const price = { input_per_million: 1, output_per_million: 1 };
  it.each<[JsonObject, string]>([
    [
      { provider: { type: 'item_field', pointer: 'answer' } },
      '/config/provider/pointer must be a JSON Pointer such as /answer.',
    ],
    [
      { provider: { ...openai, base_url: 'ftp://host/v1' } },
      '/config/provider/base_url must begin with http:// or https://.',
    ],
    [
      { provider: openai, price: { ...price, currency: 'euro' } },
      '/config/price/currency must be a currency code of three capital letters such as USD.',
    ],
    [{ provider: { ...openai, auth: 'basic' } }, '/config/provider/auth must be one of bearer, api-key.'],
    [{ provider: openai, concurrency: 500 }, '/config/concurrency must be at most 256.'],
    [{ provider: openai, select: { tags: [] } }, '/config/select/tags must have at least 1 entry.'],
    [
      { provider: { ...openai, model: 'x'.repeat(257) } },
      '/config/provider/model must have at most 256 characters.',
    ],
  ])('is explained in words', (config, message) => {
    expect(problems(config).map(([, text]) => text)).toEqual([message]);
  });
});

describe('texts of params', () => {
  const long = 'x'.repeat(16_385);
  it.each<[JsonValue, string]>([
    [{ provider: { ...openai, params: { stop: long } } }, '/config/provider/params/stop'],
    [{ provider: { ...openai, params: { a: [{ b: long }] } } }, '/config/provider/params/a/0/b'],
    [{ provider: { ...openai, params: { [long]: 1 } } }, '/config/provider/params'],
    [
      { provider: openai, judge: { base_url: 'https://host/v1', model: 'm', params: { a: long } } },
      '/config/judge/params/a',
    ],
  ])('must not be too long, except in stored configurations', (value, path) => {
    expect(problems(value).map(([at]) => at)).toEqual([path]);
    expect(parseStoredRunConfig(value)).toBeDefined();
  });

  it('can have 16 kB', () => {
    expect(problems({ provider: { ...openai, params: { stop: long.slice(1) } } })).toEqual([]);
  });

  it('are checked fast, however many problems a request has, and the error lists some of them', () => {
    const params = Array.from({ length: 60_000 }, () => ({ token: 'x' }));
    const startMs = performance.now();
    const found = problems({ provider: { ...openai, params: { params } } });
    expect(performance.now() - startMs).toBeLessThan(30_000);
    expect(found).toHaveLength(100);
  });
});

describe('parseRescore', () => {
  const judge = { base_url: 'https://host/v1', model: 'j' };
  const named = [{ name: 'right', checker: 'exact_match' }];
  const added = [{ name: 'tone', judge }];
  const sources = [{ checker: 'includes' }, { scorers: named }].map(
    (scoring) => parseAddedScorers(added, parseRunConfig({ provider: openai, ...scoring })).config,
  );

  it.each(sources)('scores by what the request states, and no added judge is asked again', (source) => {
    for (const stated of [{ checker: 'regex' }, { judge }, { scorers: [{ name: 'other' }] }]) {
      const config = parseRescore(stated, source);
      expect(config).toMatchObject(stated);
      expect(config).not.toHaveProperty('added_scorers');
    }
  });

  it.each(sources)('scores as the run does where the request states nothing', (source) => {
    expect(parseRescore({}, source)).toEqual(source);
  });

  describe('with a cost limit', () => {
    const price = { input_per_million: 1, output_per_million: 2, currency: 'EUR' };
    const source = parseRunConfig({ provider: openai, price, max_cost: { amount: 3 } });
    const priced = { ...judge, price };

    it('keeps that of the run, unless it states another one or none', () => {
      for (const stated of [{}, { checker: 'regex' }, { judge: priced }, { scorers: named }]) {
        expect(parseRescore(stated, source).max_cost).toEqual({ amount: 3 });
        expect(parseRescore({ ...stated, max_cost: { amount: 1 } }, source).max_cost).toEqual({ amount: 1 });
        expect(parseRescore({ ...stated, max_cost: null }, source)).not.toHaveProperty('max_cost');
      }
      const { max_cost: _, ...unlimited } = source;
      expect(parseRescore({ max_cost: { amount: 1 } }, unlimited).max_cost).toEqual({ amount: 1 });
    });

    it.each<[string, () => unknown, string]>([
      ['of a judge without a price', () => parseRescore({ judge }, source), '/judge/price'],
      [
        'without a price',
        () => parseRescore({ max_cost: { amount: 1 } }, parseRunConfig({ provider: openai })),
        '/max_cost',
      ],
      ['that is none', () => parseRescore({ max_cost: { amount: -1 } }, source), '/max_cost/amount'],
    ])('refuses one %s', (_, act, path) => {
      expect(act).toThrow(expect.objectContaining({ errors: [expect.objectContaining({ path })] }));
    });
  });
});
