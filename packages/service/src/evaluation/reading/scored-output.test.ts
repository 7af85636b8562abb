import { describe, expect, it } from 'vitest';
import { scoredOutput, unfenced } from './scored-output.ts';

describe('scoredOutput', () => {
  it.each<[string, 'strip' | 'score', string, boolean]>([
    ['<think>a</think> b', 'strip', 'b', false],
    ['<think>a</think> b', 'score', '<think>a</think> b', false],
    ['<think>a', 'strip', '', true],
    ['<think>a</think>\n', 'strip', '', true],
    ['<think>a', 'score', '<think>a', false],
    [' b ', 'strip', ' b ', false],
    ['', 'strip', '', false],
  ])('of %j with %s is %j', (output, mode, scored, isOnlyReasoning) => {
    expect(scoredOutput(output, mode)).toMatchObject({ scored, isOnlyReasoning });
  });

  it('of a value that is no text is all of it', () => {
    expect(scoredOutput({ a: '<think>a</think>b' }, 'strip').scored).toEqual({ a: '<think>a</think>b' });
  });
});

describe('unfenced', () => {
  it.each([
    ['```json\n{"a": 1}\n```', '{"a": 1}'],
    ['\n~~~\na\nb\n~~~\n', 'a\nb'],
    ['see\n```\na\n```', 'see\n```\na\n```'],
    ['```\na\n```\n```\nb\n```', '```\na\n```\n```\nb\n```'],
    ['```\na', '```\na'],
  ])('%j is %j', (text, inside) => {
    expect(unfenced(text)).toBe(inside);
  });
});
