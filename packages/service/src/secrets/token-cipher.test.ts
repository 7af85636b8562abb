import { expect, it } from 'vitest';
import { createTokenCipher, Secret } from './secret.ts';

it('encrypts a token so that only the same secret and job decrypt it', () => {
  const cipher = createTokenCipher(new Secret('deployment secret'));
  const encrypted = cipher.encrypt('job-1', 'hf_planted');
  expect(encrypted).not.toContain('planted');
  expect(cipher.encrypt('job-1', 'hf_planted')).not.toBe(encrypted);
  expect(createTokenCipher(new Secret('deployment secret')).decrypt('job-1', encrypted)).toBe('hf_planted');
  expect(cipher.decrypt('job-2', encrypted)).toBeUndefined();
  expect(createTokenCipher(new Secret('another')).decrypt('job-1', encrypted)).toBeUndefined();
  for (const broken of ['', 'v1', 'v1.', 'v1.AAAA', 'memory', `${encrypted.slice(0, -2)}xx`]) {
    expect(cipher.decrypt('job-1', broken)).toBeUndefined();
  }
});

it('has its own key without a secret', () => {
  const cipher = createTokenCipher();
  const encrypted = cipher.encrypt('job-1', 'hf_planted');
  expect(cipher.decrypt('job-1', encrypted)).toBe('hf_planted');
  expect(createTokenCipher().decrypt('job-1', encrypted)).toBeUndefined();
});
