import { expect, it } from 'vitest';
import { Secret } from './config/secret.ts';
import { createKeyVault, createMemoryVault } from './token-cipher.ts';

it('seals a token so that only the same key and job open it', () => {
  const vault = createKeyVault(new Secret('deployment secret'));
  const sealed = vault.seal('job-1', 'hf_planted');
  expect(sealed).not.toContain('planted');
  expect(vault.seal('job-1', 'hf_planted')).not.toBe(sealed);
  expect(createKeyVault(new Secret('deployment secret')).open('job-1', sealed)).toBe('hf_planted');
  expect(vault.open('job-2', sealed)).toBeUndefined();
  expect(createKeyVault(new Secret('another')).open('job-1', sealed)).toBeUndefined();
  for (const broken of ['', 'v1', 'v1.', 'v1.AAAA', 'memory', `${sealed.slice(0, -2)}xx`]) {
    expect(vault.open('job-1', broken)).toBeUndefined();
  }
});

it('keeps a token in memory until the job has ended', () => {
  const vault = createMemoryVault();
  const sealed = vault.seal('job-1', 'hf_planted');
  expect(sealed).toBe('memory');
  expect(vault.open('job-1', sealed)).toBe('hf_planted');
  vault.forget('job-1');
  expect(vault.open('job-1', sealed)).toBeUndefined();
});
