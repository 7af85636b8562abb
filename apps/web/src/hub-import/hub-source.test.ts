import { expect, it } from 'vitest';
import { hubSourceOf } from './hub-source.ts';

it.each([
  ['org/sums', { path: 'org/sums' }],
  [' https://huggingface.co/datasets/org/sums ', { path: 'org/sums' }],
  ['https://huggingface.co/datasets/squad', { path: 'squad' }],
  [
    'https://huggingface.co/datasets/org/sums/tree/refs%2Fpr%2F1',
    { path: 'org/sums', revision: 'refs/pr/1' },
  ],
  ['https://huggingface.co/datasets/org/sums/viewer', { path: 'org/sums' }],
  [
    'https://huggingface.co/datasets/org/sums/viewer/cats/train',
    { path: 'org/sums', subset: 'cats', split: 'train' },
  ],
  ['https://huggingface.co/datasets/org/sums/viewer/cats?row=3', { path: 'org/sums', subset: 'cats' }],
  [
    'https://huggingface.co/datasets/org/viewer-logs/viewer/a%2Fb',
    { path: 'org/viewer-logs', subset: 'a/b' },
  ],
  ['https://huggingface.co/datasets/org/sums/blob/main/a%ZZ', { path: 'org/sums', revision: 'main' }],
])('reads %s', (text, source) => {
  expect(JSON.parse(JSON.stringify(hubSourceOf(text)))).toEqual(source);
});
