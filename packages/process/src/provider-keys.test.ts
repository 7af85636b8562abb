import { expect, it } from 'vitest';
import { providerEnvironment, providerSecrets } from './provider-environment.ts';

const env = {
  PATH: '/bin',
  SVC_PROVIDER_A: ' sk-a ',
  SVC_PROVIDER_A_ORIGINS: 'https://one.example',
  SVC_PROVIDER_EMPTY: '',
  SVC_PROVIDER_B: 'sk-b',
};

it('is what begins with SVC_PROVIDER_; its secrets are the keys and not their origins', () => {
  expect(Object.keys(providerEnvironment(env))).not.toContain('PATH');
  expect(providerSecrets(env)).toEqual(['sk-a', 'sk-b']);
});
