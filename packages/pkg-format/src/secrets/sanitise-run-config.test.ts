import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { findRunConfigSecrets, sanitiseRunConfig } from './sanitise-run-config.ts';

const SECRET = 'tops3cret-Value/+with=odd chars';

describe('sanitiseRunConfig by name', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'keys',
      {
        api_key: 'x',
        apiKey: 'x',
        'X-Api-Key': 'x',
        APIKEY: 'x',
        openai_key: 'x',
        keys: ['x'],
        access_key_id: 'x',
      },
      {},
    ],
    [
      'tokens',
      { token: 'x', hubToken: 'x', access_token: 'x', tokens: ['x'], HF_TOKEN: 'x', token_2: 'x' },
      {},
    ],
    [
      'passwords',
      { password: 'x', dbPassword: 1234, auth_token: 5, pwd: 'x', passphrase: 'x', user_pass: 'x' },
      {},
    ],
    [
      'headers',
      {
        Authorization: 'x',
        'Proxy-Authorization': 'x',
        Cookie: 'x',
        'set-cookie': ['x'],
        auth: { user: 'u' },
      },
      {},
    ],
    [
      'other secrets',
      { client_secret: 'x', credentials: {}, jwt: 'x', private_key: 'x', 'private-key-pem': 'x' },
      {},
    ],
    [
      'deep inside',
      { a: [{ b: { headers: { authorization: 'x', accept: 'y' } } }] },
      { a: [{ b: { headers: { accept: 'y' } } }] },
    ],
    [
      'name and value pairs',
      {
        headers: [
          { name: 'Authorization', value: 'x' },
          { name: 'Accept', value: 'y' },
        ],
        env: [{ key: 'OPENAI_API_KEY', value: 'x' }],
        list: [
          ['Cookie', 'x'],
          ['Accept', 'y'],
        ],
        lines: ['X-Api-Key: x', 'Accept: y', '--token=x'],
        one: { name: 'api_key', value: 'x', note: 'n' },
      },
      {
        headers: [{ name: 'Accept', value: 'y' }],
        env: [],
        list: [['Accept', 'y']],
        lines: ['Accept: y'],
        one: { name: 'api_key', note: 'n' },
      },
    ],
    [
      'what is not a secret stays',
      {
        model: 'm',
        max_tokens: 5,
        maxTokens: 5,
        stop_tokens: ['</s>'],
        tokenizer: 't',
        token_count: 3,
        tokens: 7,
        keyboard: 'k',
        keywords: ['a'],
        monkey: 'm',
        temperature: 0.5,
        author: 'a',
        pass_threshold: 0.5,
        passed: true,
        password: null,
        use_auth: false,
      },
      {
        model: 'm',
        max_tokens: 5,
        maxTokens: 5,
        stop_tokens: ['</s>'],
        tokenizer: 't',
        token_count: 3,
        tokens: 7,
        keyboard: 'k',
        keywords: ['a'],
        monkey: 'm',
        temperature: 0.5,
        author: 'a',
        pass_threshold: 0.5,
        passed: true,
        password: null,
        use_auth: false,
      },
    ],
    [
      "the name of a worker's variable stays",
      { api_key_env: 'SVC_PROVIDER_MAIN' },
      { api_key_env: 'SVC_PROVIDER_MAIN' },
    ],
    ['another value under that name does not', { api_key_env: 'sk-something' }, {}],
  ])('%s', (_, config, expected) => {
    expect(sanitiseRunConfig(config)).toEqual(expected);
  });
});

describe('sanitiseRunConfig where the name of a secret means nothing', () => {
  const schema = {
    type: 'object',
    properties: {
      password: { type: 'string', description: 'Password: required' },
      headers: { type: 'object', properties: { Authorization: { $ref: '#/$defs/Credentials' } } },
    },
    required: ['password'],
    dependentRequired: { password: ['headers'] },
    $defs: { Credentials: { type: 'string' } },
  };

  it.each<[string, JsonObject]>([
    ['how a key is sent', { provider: { auth: 'api-key' }, judge: { auth: 'bearer' } }],
    ['the name of an entry of a cache', { provider: { params: { prompt_cache_key: 'abc' } } }],
    [
      'the properties of a schema',
      { provider: { params: { response_format: { json_schema: { schema } } } } },
    ],
    ['those of a tool', { provider: { params: { tools: [{ function: { parameters: schema } }] } } }],
    [
      'prompts',
      {
        system_prompt: 'The password is "swordfish".\nAuthorization: none\nCookie: a=b\ntoken=abc',
        prompt_template: '{{"api_key": "{prompt}"}}',
      },
    ],
    ['prompts that are JSON', { system_prompt: '{"password": "swordfish"}' }],
    ['checkers', { checker: { type: 'regex', pattern: 'password: (.*)$', password: 'x' } }],
    ['selections', { select: { tags: ['token=abc', 'Cookie: a'], sections: ['api_key: x'] } }],
  ])('keeps %s', (_, config) => {
    expect(sanitiseRunConfig(config)).toEqual(config);
    expect(findRunConfigSecrets(config)).toEqual([]);
  });

  it.each<[string, JsonObject, string]>([
    ['another value of auth', { provider: { auth: 'x' } }, '/provider/auth'],
    ['a key in a prompt', { system_prompt: 'Use sk-proj-abcdefghijklmnopqrstuvwx.' }, '/system_prompt'],
    ['a known secret in a prompt', { prompt_template: `{prompt} ${SECRET}` }, '/prompt_template'],
    [
      'a value under properties',
      { params: { properties: { password: 'x' } } },
      '/params/properties/password',
    ],
    ['a secret in a schema', { params: { properties: { a: { token: 'x' } } } }, '/params/properties/a/token'],
    ['a pair', { list: ['x', ['Cookie', 'y']] }, '/list/1'],
    ['a pair of members', { a: [{ b: { name: 'api_key', value: 'x', note: 'n' } }] }, '/a/0/b/value'],
    ['a number', { user: 1234567890123456 }, '/user'],
    ['JSON in a text', { a: '{"headers": {"Authorization": "x"}}' }, '/a'],
    ['a name, which the pointer does not repeat', { a: { [`k/${SECRET}`]: 1 } }, '/a/k~1[redacted]'],
  ])('finds %s', (_, config, pointer) => {
    const secrets = [SECRET, '1234567890123456'];
    expect(sanitiseRunConfig(config, secrets)).not.toEqual(config);
    expect(findRunConfigSecrets(config, secrets)).toEqual([pointer]);
  });
});

describe('sanitiseRunConfig by value', () => {
  it.each([
    ['https://user:pw@host/path?x=1', 'https://host/path?x=1'],
    ['see https://pw@host:8080 and http://a:b@c', 'see https://host:8080 and http://c'],
    ['postgres://u:p%40ss@db.example/x', 'postgres://db.example/x'],
    ['https://u:p@ss@host/', 'https://host/'],
    ['//u:p@host/x', '//host/x'],
    ['user:pw@proxy.example:3128', 'proxy.example:3128'],
    ['https://host/?api_key=abc&q=1', 'https://host/?api_key=[redacted]&q=1'],
    ['https://host/?q=1&access_token=abc#f', 'https://host/?q=1&access_token=[redacted]'],
    ['Server=x;Password=abc;Timeout=3', 'Server=x;Password=[redacted];Timeout=3'],
    ['Bearer abcdefgh12345678', 'Bearer [redacted]'],
    ['basic dXNlcjpwYXNz', 'basic [redacted]'],
    ['Basic arithmetic is easy', 'Basic arithmetic is easy'],
    ['the bearer of this letter', 'the bearer of this letter'],
    ['Authorization: Custom abc def', 'Authorization: [redacted]'],
    ['GET / HTTP/1.1\nCookie: a=b; c=d\nAccept: x', 'GET / HTTP/1.1\nCookie: [redacted]\nAccept: x'],
    ['x-api-key: abc', 'x-api-key: [redacted]'],
    ['my key is sk-proj-abcdefghijklmnopqrstuvwx', 'my key is [redacted]'],
    ['hf_abcdefghijklmnopqrstuvwxyz', '[redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_def', '[redacted]'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----', '[redacted]'],
    ['{"headers": {"Authorization": "x", "a": 1}}', '{"headers":{"a":1}}'],
    [`curl -d '{"api_key": "abc", "a": "b"}'`, `curl -d '{"api_key": "[redacted]", "a": "b"}'`],
    ['say {\\"token\\": \\"abc\\"} twice', 'say {\\"token\\": \\"[redacted]\\"} twice'],
    ['{"a": 1, "b": [2]}', '{"a": 1, "b": [2]}'],
    [
      'Answer with the letter only: A, B or C. Mail me at a@b.example',
      'Answer with the letter only: A, B or C. Mail me at a@b.example',
    ],
  ])('%j becomes %j', (text, expected) => {
    expect(sanitiseRunConfig({ text })).toEqual({ text: expected });
  });

  it('removes known secrets everywhere', () => {
    const base64 = Buffer.from(SECRET).toString('base64');
    const config: JsonObject = {
      a: SECRET,
      b: `x${SECRET}y${SECRET}`,
      c: [encodeURIComponent(SECRET), base64, { [`k${SECRET}`]: 1 }],
      d: JSON.stringify({ e: SECRET }),
      f: 1234567890123456,
    };
    const text = canonicalJson(sanitiseRunConfig(config, [SECRET, '1234567890123456', '']));
    for (const spelling of [SECRET, encodeURIComponent(SECRET), base64, '1234567890123456'])
      expect(text).not.toContain(spelling);
    expect(text).toContain('x[redacted]y[redacted]');
  });

  it('leaves what is shorter than any key alone', () => {
    const config = { a: 'abc', b: 'abcd', n: 123 };
    expect(sanitiseRunConfig(config, ['abc', '123', 'fifteen letters'])).toEqual(config);
  });

  it('does not lose a member whose name becomes the same as another', () => {
    expect(
      sanitiseRunConfig({ secret1234567890: 1, '[redacted]': 2, 'x-secret1234567890': 3 }, [
        'secret1234567890',
        'x-secret1234567890',
      ]),
    ).toEqual({
      '[redacted]': 1,
      '[redacted]_': 2,
      '[redacted]__': 3,
    });
  });
});

describe('sanitiseRunConfig', () => {
  const secretNames = fc.constantFrom(
    'api_key',
    'Authorization',
    'token',
    'PASSWORD',
    'cookie',
    'clientSecret',
    'accessKey',
  );
  const harmless = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));

  it('lets no secret through, whatever it is wrapped in', () => {
    const leaf = fc.oneof(
      harmless,
      fc.constant(SECRET),
      fc.tuple(secretNames, fc.constant('by-name-Z9Z9')).map(([name, value]) => ({ [name]: value })),
      fc.tuple(secretNames, fc.constant('by-name-Z9Z9')).map(([name, value]) => ({ name, value })),
      fc.constant('https://by-name-Z9Z9:x@host/'),
      fc.string().map((text) => `${text}${SECRET}`),
    );
    const tree = fc.letrec<{ node: JsonValue }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        leaf,
        fc.array(tie('node'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('node'), { maxKeys: 4 }),
        tie('node').map((node) => JSON.stringify(node)),
      ),
    })).node;
    fc.assert(
      fc.property(fc.dictionary(fc.string(), tree), (config) => {
        const text = canonicalJson(sanitiseRunConfig(config as JsonObject, [SECRET]));
        expect(text).not.toContain('by-name-Z9Z9');
        expect(text).not.toContain(SECRET);
        expect(text).not.toContain('tops3cret');
      }),
      { numRuns: times(500, 100) },
    );
  });

  it('changes nothing a second time', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (config) => {
        const once = sanitiseRunConfig(config as JsonObject, [SECRET]);
        expect(sanitiseRunConfig(once, [SECRET])).toEqual(once);
      }),
    );
  });
});
