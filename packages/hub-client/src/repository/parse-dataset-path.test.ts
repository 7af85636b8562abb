import { describe, expect, it } from 'vitest';
import { parseDatasetPath } from './parse-dataset-path.ts';

const HUBS = ['https://huggingface.co', 'http://localhost:5000/hub'];

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
    ['http://localhost:5000/hub/datasets/a/b/blob/v1/README.md', 'a/b', 'v1'],
  ])('%s', (pasted, path, revision) => {
    expect(parseDatasetPath(pasted, HUBS)).toEqual({ path, revision });
  });

  it.each([
    'https://example.org/datasets/a/b',
    'https://huggingface.co.example.org/datasets/a/b',
    'https://huggingface.co/a/b',
    'https://huggingface.co/datasets/',
    'https://huggingface.co/datasets/a/b/c',
    'https://huggingface.co/datasets/a/../../x',
    'https://huggingface.co/datasets/a/b/tree/%ff',
    'http://localhost:5000/datasets/a/b',
    'https://',
    'datasets/a/b/c',
    `https://huggingface.co/datasets/a/${'b'.repeat(2000)}`,
    '',
  ])('refuses %.60s', (pasted) => {
    expect(() => parseDatasetPath(pasted, HUBS)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});
