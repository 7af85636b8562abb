import { expect, it } from 'vitest';
import { parseProviderKeys } from './provider-keys.ts';

const KEY = 'sk-0123456789';
const parse = (env: Record<string, string>) =>
  parseProviderKeys({ PATH: '/bin', ...env }, new Set(['SVC_PROVIDER_ALLOWED_HOSTS']));

it('binds each key to its origins', () => {
  const { keys, problems } = parse({
    SVC_PROVIDER_A: ` ${KEY} `,
    SVC_PROVIDER_A_ORIGINS: 'https://One.Example:443/, http://127.0.0.1:8000 ,https://[::1]:8443',
    SVC_PROVIDER_EMPTY: '',
    SVC_PROVIDER_EMPTY_ORIGINS: ' ',
    SVC_PROVIDER_ALLOWED_HOSTS: 'one.example',
  });
  expect(problems).toEqual([]);
  expect(Object.keys(keys)).toEqual(['SVC_PROVIDER_A']);
  expect(keys['SVC_PROVIDER_A']?.key.reveal()).toBe(KEY);
  expect(keys['SVC_PROVIDER_A']?.origins).toEqual([
    'https://one.example',
    'http://127.0.0.1:8000',
    'https://[::1]:8443',
  ]);
  expect(JSON.stringify(keys)).not.toContain(KEY);
});

it.each<[Record<string, string>, string[]]>([
  [{ SVC_PROVIDER_A: KEY }, ['SVC_PROVIDER_A']],
  [{ SVC_PROVIDER_A: KEY, SVC_PROVIDER_A_ORIGINS: '' }, ['SVC_PROVIDER_A']],
  [{ SVC_PROVIDER_A_ORIGINS: 'https://a.example' }, ['SVC_PROVIDER_A_ORIGINS']],
  [{ SVC_PROVIDER_A: '', SVC_PROVIDER_A_ORIGINS: 'https://a.example' }, ['SVC_PROVIDER_A_ORIGINS']],
  [
    { SVC_PROVIDER_A: KEY, SVC_PROVIDER_A_ORIGNS: 'https://a.example' },
    ['SVC_PROVIDER_A', 'SVC_PROVIDER_A_ORIGNS'],
  ],
  [{ SVC_PROVIDER_A: KEY, SVC_PROVIDER_A_ORIGIN: KEY }, ['SVC_PROVIDER_A', 'SVC_PROVIDER_A_ORIGIN']],
  [{ SVC_PROVIDER_ORIGINS: 'https://a.example' }, ['SVC_PROVIDER_ORIGINS']],
  [
    {
      SVC_PROVIDER_A: KEY,
      SVC_PROVIDER_A_ORIGINS: 'https://a.example',
      SVC_PROVIDER_A_ORIGINS_ORIGINS: 'https://a.example',
    },
    ['SVC_PROVIDER_A_ORIGINS_ORIGINS'],
  ],
  [{ SVC_PROVIDER_acme: KEY, SVC_PROVIDER_acme_ORIGINS: 'https://a.example' }, ['SVC_PROVIDER_acme']],
  [{ SVC_PROVIDER_A: 'two words', SVC_PROVIDER_A_ORIGINS: 'https://a.example' }, ['SVC_PROVIDER_A']],
  [{ SVC_PROVIDER_A: 'sk-\u00e9', SVC_PROVIDER_A_ORIGINS: 'https://a.example' }, ['SVC_PROVIDER_A']],
])('%j: %j is wrong', (env, names) => {
  const { problems } = parse(env);
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual(names);
  expect(problems.join()).not.toMatch(/sk-|example|two/);
});

it('says which origin a base URL has', () => {
  const { problems } = parse({ SVC_PROVIDER_A: KEY, SVC_PROVIDER_A_ORIGINS: 'https://api.openai.com/v1' });
  expect(problems).toEqual([
    'SVC_PROVIDER_A_ORIGINS must be origins, which have no path: write https://api.openai.com as entry 1',
  ]);
});

it('knows where the keys of well-known names go', () => {
  const { keys, problems } = parse({
    SVC_PROVIDER_OPENAI: KEY,
    SVC_PROVIDER_GROQ: KEY,
    SVC_PROVIDER_GROQ_ORIGINS: 'https://proxy.example',
  });
  expect(problems).toEqual([]);
  expect(keys['SVC_PROVIDER_OPENAI']?.origins).toEqual(['https://api.openai.com']);
  expect(keys['SVC_PROVIDER_GROQ']?.origins).toEqual(['https://proxy.example']);
});

it.each([
  ',',
  'https://a.example,',
  'a.example',
  '*',
  'https://*.a.example',
  'https://a.example?x',
  'https://a.example#x',
  'https://u:p@a.example',
  'ftp://a.example',
  'file:///x',
  'https:/a.example',
  'https://',
  'https://a.example:99999',
  'https://a.example;https://b.example',
  'https://a.example https://b.example',
  'null',
])('%j is not a list of origins', (origins) => {
  const { problems } = parse({ SVC_PROVIDER_A: KEY, SVC_PROVIDER_A_ORIGINS: origins });
  expect(problems).toEqual([expect.stringMatching(/^SVC_PROVIDER_A_ORIGINS must be a comma-separated list/)]);
});
