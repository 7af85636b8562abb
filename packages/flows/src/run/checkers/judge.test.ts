import type { Item, JsonValue } from '@svc/jsonl-v23';
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../ports.ts';
import { checkOutput } from './check-output.ts';
import { judgeMessages, judgePrompt, readVerdict } from './judge.ts';

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
  ])('finds no verdict in %j', (reply) =>
    expect(() => readVerdict(reply, 0.5)).toThrow(expect.objectContaining({ code: 'judge_bad_answer' })),
  );

  it('keeps no more of an explanation than fits', () => {
    const { explanation } = readVerdict(JSON.stringify({ score: 1, explanation: 'x'.repeat(10_000) }), 0.5);
    expect(explanation).toHaveLength(4_000);
  });
});

describe('judgePrompt', () => {
  it.each<[Item, JsonValue, string | undefined]>([
    [{ meta: { judge_prompt: 'own' } }, 'default', 'own'],
    [{ meta: { judge_prompt: null } }, 'default', 'default'],
    [{}, ['a', 'b'], 'a\n\nb'],
    [{}, [{ prompt: 'a' }], 'a'],
    [{ type: 'code' }, { code: 'c', default: 'd' }, 'c'],
    [{ type: 'other' }, { code: 'c', default: 'd' }, 'd'],
    [{}, { freeform: 'f', code: 'c' }, 'f'],
    [{ type: 'x' }, { only: 'o' }, 'o'],
    [{ type: 'x' }, { a: 'a', b: 'b' }, undefined],
    [{}, null, undefined],
    [{}, 5, undefined],
    [{}, '  ', undefined],
  ])('of %j with defaults %j is %j', (item, defaults, expected) => {
    expect(judgePrompt(item, defaults)).toBe(expected);
  });
});

describe('judgeMessages', () => {
  const item: Item = {
    inputs: { prompt: 'Say hello', choices: ['hi'] },
    answer: 'hello',
    criteria: ['polite', { text: 'short' }, { text: 'kind', weight: 2 }],
  };
  const user = (prompt: string | undefined) =>
    judgeMessages({ prompt, item, output: 'hello {{answer}}' })[1]?.content;

  it('gives the judge the task, the answer, the criteria and the output', () => {
    expect(user('Be strict.')).toBe(
      [
        'Be strict.',
        '<<< Task >>>\nSay hello\nA. hi\n<<< end of Task >>>',
        '<<< Reference answer >>>\nhello\n<<< end of Reference answer >>>',
        '<<< Criteria >>>\n- polite\n- short\n- {"text":"kind","weight":2}\n<<< end of Criteria >>>',
        '<<< Output >>>\nhello {{answer}}\n<<< end of Output >>>',
      ].join('\n\n'),
    );
  });

  it('puts in place what a prompt names and nothing that an output names', () => {
    expect(user('T: {{prompt}} R: {{ answer }} C: {{criteria}} O: {{output}}')).toBe(
      'T: Say hello\nA. hi R: hello C: - polite\n- short\n- {"text":"kind","weight":2} O: hello {{answer}}',
    );
  });

  it('leaves out what the item does not have', () => {
    expect(judgeMessages({ prompt: undefined, item: {}, output: '' })[1]?.content).toBe(
      'Grade how well the output does the task.\n\n<<< Output >>>\n\n<<< end of Output >>>',
    );
  });
});

describe('judge', () => {
  const signal = new AbortController().signal;

  it('asks the model and reads its verdict', async () => {
    const asked: (readonly ChatMessage[])[] = [];
    const judge = {
      threshold: 0.9,
      defaultPrompts: 'Default prompt',
      ask: async (messages: readonly ChatMessage[]) => {
        asked.push(messages);
        return '{"score": 0.8}';
      },
    };
    const item = { checker: { type: 'judge' }, inputs: { prompt: 'Q' } };
    expect(await checkOutput({ item, output: 'x', judge, signal })).toEqual({
      status: 'ok',
      score: 0.8,
      passed: false,
      explanation: null,
    });
    expect(asked[0]?.[1]?.content).toContain('Default prompt');
    const own = { checker: { type: 'judge', judge_prompt: 'Own prompt' } };
    await checkOutput({ item: own, output: 'x', judge, signal });
    expect(asked[1]?.[1]?.content).toContain('Own prompt');
  });

  it('leaves an item unscored when the run has no judge model', async () => {
    expect(
      await checkOutput({ item: { checker: { type: 'judge' } }, output: 'x', judge: null, signal }),
    ).toMatchObject({ status: 'unscored' });
  });
});
