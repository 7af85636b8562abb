import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sanitiseRunConfig } from './sanitise-run-config.ts';
import { isSecretName } from './secret-texts.ts';

const names: { readonly secret: string[]; readonly notSecret: string[] } = JSON.parse(
  readFileSync(new URL('../../../../conformance/secrets.json', import.meta.url), 'utf8'),
);

describe('isSecretName', () => {
  it.each(names.secret)('recognises %s', (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(sanitiseRunConfig({ params: { [name]: 'x' } })).toEqual({ params: {} });
  });

  it.each(names.notSecret)('leaves %s', (name) => {
    expect(isSecretName(name)).toBe(false);
    expect(sanitiseRunConfig({ params: { [name]: 'x' } })).toEqual({ params: { [name]: 'x' } });
  });
});
