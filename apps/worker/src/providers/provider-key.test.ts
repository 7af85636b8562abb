import { loadConfig } from '@svc/service';
import { RunError } from '@svc/service/evaluation';
import { describe, expect, it } from 'vitest';
import { providerKey } from './create-provider.ts';

const { providerKeys } = loadConfig({
  SVC_PROVIDER_A: 'sk-a',
  SVC_PROVIDER_A_ORIGINS: 'https://one.example, https://two.example:443,http://localhost:8000',
});

describe('providerKey', () => {
  it.each<[string | null, string, string | null]>([
    [null, 'https://host/v1', null],
    ['SVC_PROVIDER_A', 'https://one.example/v1', 'sk-a'],
    ['SVC_PROVIDER_A', 'https://ONE.example:443', 'sk-a'],
    ['SVC_PROVIDER_A', 'https://two.example', 'sk-a'],
    ['SVC_PROVIDER_A', 'http://localhost:8000/v1', 'sk-a'],
  ])('%s for %s is %j', (name, baseUrl, key) => expect(providerKey(name, baseUrl, providerKeys)).toBe(key));

  it.each([
    ['SVC_PROVIDER_NONE', 'https://one.example', 'provider_key_missing'],
    ['SVC_PROVIDER_A_ORIGINS', 'https://one.example', 'provider_key_missing'],
    ['constructor', 'https://one.example', 'provider_key_missing'],
    ['__proto__', 'https://one.example', 'provider_key_missing'],
    ['SVC_PROVIDER_A', 'https://other.example', 'provider_unauthorized'],
    ['SVC_PROVIDER_A', 'http://one.example', 'provider_unauthorized'],
    ['SVC_PROVIDER_A', 'https://one.example.', 'provider_unauthorized'],
    ['SVC_PROVIDER_A', 'https://one.example.evil.example', 'provider_unauthorized'],
    ['SVC_PROVIDER_A', 'https://one.example:8443', 'provider_unauthorized'],
    ['SVC_PROVIDER_A', 'http://127.0.0.1:8000', 'provider_unauthorized'],
  ])('%s for %s ends the run with %s', (name, baseUrl, code) => {
    const found = providerKey(name, baseUrl, providerKeys);
    expect(found).toBeInstanceOf(RunError);
    expect(found).toMatchObject({ code, endsRun: true });
    expect((found as RunError).message).not.toMatch(/sk-/);
  });
});
