import { RunError } from '@svc/flows';
import { describe, expect, it } from 'vitest';
import { providerKey } from './provider-key.ts';

const environment = {
  SVC_PROVIDER_A: ' sk-a ',
  SVC_PROVIDER_EMPTY: ' ',
  SVC_PROVIDER_BAD: 'sk-\u00e9secret',
  SVC_PROVIDER_BOUND: 'sk-b',
  SVC_PROVIDER_BOUND_ORIGINS: 'https://one.example, https://two.example/v1',
};

describe('providerKey', () => {
  it.each<[string | null, string, string | null]>([
    [null, 'https://host/v1', null],
    ['SVC_PROVIDER_A', 'https://host/v1', 'sk-a'],
    ['SVC_PROVIDER_BOUND', 'https://one.example/v1', 'sk-b'],
    ['SVC_PROVIDER_BOUND', 'https://two.example', 'sk-b'],
  ])('%s for %s is %j', (name, baseUrl, key) => expect(providerKey(name, baseUrl, environment)).toBe(key));

  it.each([
    ['SVC_PROVIDER_NONE', 'https://host', 'provider_key_missing'],
    ['SVC_PROVIDER_EMPTY', 'https://host', 'provider_key_missing'],
    ['SVC_PROVIDER_BAD', 'https://host', 'provider_key_missing'],
    ['constructor', 'https://host', 'provider_key_missing'],
    ['SVC_PROVIDER_BOUND', 'https://other.example', 'provider_unauthorized'],
    ['SVC_PROVIDER_BOUND', 'http://one.example', 'provider_unauthorized'],
    ['SVC_PROVIDER_BOUND', 'https://one.example.evil.example', 'provider_unauthorized'],
    ['SVC_PROVIDER_BOUND', 'https://one.example:8443', 'provider_unauthorized'],
  ])('%s for %s ends the run with %s', (name, baseUrl, code) => {
    const found = providerKey(name, baseUrl, environment);
    expect(found).toBeInstanceOf(RunError);
    expect(found).toMatchObject({ code, endsRun: true });
    expect((found as RunError).message).not.toMatch(/sk-/);
  });
});
