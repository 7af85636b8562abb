import { describe, expect, it } from 'vitest';
import { readVerdict } from './ask-judge.ts';

describe('readVerdict', () => {
  it.each<[string, number, boolean, string | null]>([
    ['{"score": 0.8, "passed": true, "explanation": "good"}', 0.8, true, 'good'],
    ['{"score": 0.8, "passed": false, "reason": "bad"}', 0.8, false, 'bad'],
    ['{"score": 0.5}', 0.5, true, null],
    ['{"score": 0.49}', 0.49, false, null],
    ['{"passed": true}', 1, true, null],
    ['{"passed": false, "score": null}', 0, false, null],
    ['Well {not json}. ```json\n{"score": 1}\n```', 1, true, null],
    ['First {"score": 0}, on second thought {"score": 1}', 1, true, null],
    ['{"explanation": "braces } {", "score": 1}', 1, true, 'braces } {'],
    ['0.25', 0.25, false, null],
    ['1', 1, true, null],
    ['**PASS**', 1, true, null],
    ['Fail.', 0, false, null],
    ['yes', 1, true, null],
    ['incorrect', 0, false, null],
  ])('%j', (reply, score, passed, explanation) => {
    expect(readVerdict(reply, 0.5)).toEqual({ status: 'ok', score, passed, explanation });
  });

  it.each([
    '',
    'I would rather not say',
    '{"score": 7}',
    '{"score": "high"}',
    '{"score": -1}',
    '[1]',
    `${'{'.repeat(1000)}}`,
    '5',
  ])('finds no verdict in %j', (reply) => expect(readVerdict(reply, 0.5)).toBeUndefined());

  it('cuts a long explanation', () => {
    const verdict = readVerdict(JSON.stringify({ score: 1, explanation: 'x'.repeat(10_000) }), 0.5);
    expect(verdict?.explanation).toHaveLength(4_000);
  });
});
