import { describe, expect, it } from 'vitest';
import { HubError } from '../errors.ts';
import { parseDatasetPath, withoutCredentials } from './validate-path.ts';

const HUB = new URL('https://huggingface.co');
const OWN_HUB = new URL('http://localhost:5000/hub');

describe('parseDatasetPath', () => {
  it.each<[string, string, string?]>([
    ['openai/gsm8k', 'openai/gsm8k'],
    ['squad', 'squad'],
    ['datasets/openai/gsm8k', 'openai/gsm8k'],
    ['datasets/gsm8k', 'datasets/gsm8k'],
    ['https://huggingface.co/datasets/openai/gsm8k', 'openai/gsm8k'],
    [' https://huggingface.co/datasets/openai/gsm8k/ ', 'openai/gsm8k'],
    ['huggingface.co/datasets/openai/gsm8k', 'openai/gsm8k'],
    ['https://huggingface.co/datasets/squad', 'squad'],
    ['https://huggingface.co/datasets/openai/gsm8k/viewer/main/test?row=1#x', 'openai/gsm8k'],
    ['https://huggingface.co/datasets/openai/gsm8k/tree/main/main', 'openai/gsm8k', 'main'],
    [
      'https://huggingface.co/datasets/openai/gsm8k/tree/refs%2Fconvert%2Fparquet/main',
      'openai/gsm8k',
      'refs/convert/parquet',
    ],
  ])('%s', (pasted, path, revision) => {
    expect(parseDatasetPath(pasted, HUB)).toEqual({ path, revision });
  });

  it('knows a hub below a path', () => {
    const pasted = 'http://localhost:5000/hub/datasets/a/b/blob/v1/README.md';
    expect(parseDatasetPath(pasted, OWN_HUB)).toEqual({ path: 'a/b', revision: 'v1' });
    expect(() => parseDatasetPath('http://localhost:5000/datasets/a/b', OWN_HUB)).toThrow(HubError);
  });

  it('refuses an address of the public hub on a client of another one, and names both', () => {
    expect(() => parseDatasetPath('https://huggingface.co/datasets/a/b', OWN_HUB)).toThrow(
      'path must be a dataset of the hub localhost:5000, got an address of "huggingface.co"',
    );
  });

  it.each([
    'https://example.org/datasets/a/b',
    'https://huggingface.co.example.org/datasets/a/b',
    'https://huggingface.co/a/b',
    'https://huggingface.co/datasets/',
    'https://huggingface.co/datasets/a/b/c',
    'https://huggingface.co/datasets/a/../../x',
    'https://huggingface.co/datasets/a/b/tree/%ff',
    'https://',
    'datasets/a/b/c',
    `https://huggingface.co/datasets/a/${'b'.repeat(2000)}`,
    '',
  ])('refuses %.60s', (pasted) => {
    expect(() => parseDatasetPath(pasted, HUB)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});

describe('withoutCredentials', () => {
  it.each([
    ['https://me:hf_x@huggingface.co/datasets/a/b', 'https://huggingface.co/datasets/a/b'],
    ['https:\\me:hf_x@huggingface.co/datasets/a/b', 'https:\\huggingface.co/datasets/a/b'],
    ['HTTPS:hf_x@y@huggingface.co/datasets/a/b', 'HTTPS:huggingface.co/datasets/a/b'],
    [' https://huggingface.co/datasets/a/b?token=hf_x\n#hf_x', ' https://huggingface.co/datasets/a/b'],
    ['https://huggingface.co/datasets/a/b@hf/tree/v1#hf_x', 'https://huggingface.co/datasets/a/b@hf/tree/v1'],
    ['huggingface.co/datasets/a/b?token=hf_x', 'huggingface.co/datasets/a/b'],
    ['https://hf_x@', 'https://'],
    ['datasets/a/b', 'datasets/a/b'],
    ['a/b?token=hf_x', 'a/b?token=hf_x'],
    ['', ''],
  ])('%j is recorded as %j', (pasted, recorded) => {
    expect(withoutCredentials(pasted)).toBe(recorded);
  });
});
