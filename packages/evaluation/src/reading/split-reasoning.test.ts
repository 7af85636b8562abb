import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitReasoning, unfenced } from './split-reasoning.ts';

const answerOf = (output: string): string | null => {
  const { scored, isOnlyReasoning } = splitReasoning(output, 'strip');
  return isOnlyReasoning ? null : (scored as string);
};

describe('splitReasoning', () => {
  it.each<[string, string | null]>([
    ['<think>Is it Oslo? No.</think>\n\nRome', 'Rome'],
    ['\n<Thinking effort="high">\nmaybe\n</THINKING>\nRome', 'Rome'],
    ['<thought>a</thought><reasoning>b</reasoning> Rome ', 'Rome'],
    ['[THINK]a[/THINK]Rome', 'Rome'],
    ['[think]a[/think]Rome', 'Rome'],
    ['<think>a <think>b</think> c</think>Rome', 'Rome'],
    ['so it is Oslo?</think>\n\n42', '42'],
    ['a</think>b</think>42', '42'],
    ['<think>a</thinking>42', '42'],
    ['<think></think>', null],
    ['<think>a</think>', null],
    ['<think>7 and no end', null],
    ['<think>a</think><think>b', null],
    [
      '<|channel|>analysis<|message|>is it A?<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>',
      'B',
    ],
    ['analysis<|message|>is it A?<|end|><|start|>assistant<|channel|>final<|message|>B', 'B'],
    ['<|channel|>analysis<|message|>is it A?', null],
    ['plain ', 'plain '],
    ['', ''],
    ['Write <b>x</b>, then <think>y</think>, then 3', 'Write <b>x</b>, then <think>y</think>, then 3'],
    ['End the block with `</think>` and stop.', 'End the block with `</think>` and stop.'],
    ['Type "</think>" to end it.', 'Type "</think>" to end it.'],
    ['<think>a</think>Use <think> and </think>.', 'Use <think> and </think>.'],
    ['<thinker>a</thinker>', '<thinker>a</thinker>'],
  ])('%j has the answer %j', (output, answer) => {
    expect(answerOf(output)).toBe(answer);
  });

  it('keeps the reasoning', () => {
    expect(splitReasoning('<think>a</think>\n<think>b</think>c', 'strip').reasoning).toBe('a\n\nb');
    expect(splitReasoning('c', 'strip').reasoning).toBeNull();
  });

  it('splits nothing where all is scored, and no value but text', () => {
    expect(splitReasoning('<think>a</think>b', 'score').scored).toBe('<think>a</think>b');
    expect(splitReasoning({ a: '<think>a</think>b' }, 'strip').scored).toEqual({ a: '<think>a</think>b' });
  });

  it('never makes an answer longer, whatever the output is', () => {
    const part = fc.constantFrom(
      '<think>',
      '</think>',
      '<THOUGHT a="b">',
      '[THINK]',
      '[/THINK]',
      '`',
      '\n',
      'x',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const output = parts.join('');
        const { scored, reasoning } = splitReasoning(output, 'strip');
        expect(output).toContain(scored);
        expect((scored as string).length + (reasoning?.length ?? 0)).toBeLessThanOrEqual(
          output.length + 2 * parts.length,
        );
      }),
    );
  });

  it.each(['<think>', '</think>', '<think></think>', '<think ', '[THINK', '`</think>`', '<|channel|>'])(
    'reads a million characters of %j',
    (part) => {
      splitReasoning(part.repeat(1_000_000 / part.length), 'strip');
    },
  );
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
