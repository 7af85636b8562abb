import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitReasoning } from './split-reasoning.ts';

const final = '<|channel|>final<|message|>';

describe('splitReasoning', () => {
  it.each<[string, string, string | null, string]>([
    ['no reasoning', ' Rome\n', null, ' Rome\n'],
    ['a block', '<think>Paris?</think>\n\nRome', 'Paris?', 'Rome'],
    ['any case, and attributes', ' <Thinking type="x">a\nb</THINKING >Rome', 'a\nb', 'Rome'],
    ['<thought>', '<thought>a</thought>b', 'a', 'b'],
    ['<reasoning>', '<reasoning>a</reasoning>b', 'a', 'b'],
    ['[THINK]', '[THINK]a[/THINK]b', 'a', 'b'],
    ['[think]', '[think]a[/think]b', 'a', 'b'],
    ['several blocks as one', '<think>a</think>\n<think></think>\n<thought>b</thought> c', 'a\n\nb', 'c'],
    ['a block in a block', '<think>a <think>b</think> c</think> d', 'a <think>b\n\nc', 'd'],
    [
      'a block that mentions its tag',
      '<think>open <think> and go on</think> d',
      'open <think> and go on',
      'd',
    ],
    ['a block that the template opened', 'a\n</think>\n\n42', 'a', '42'],
    ['up to the last closing tag', 'a</think> b </think> 42', 'a</think> b', '42'],
    ['a block, then a closing tag', '<think>a</think> b </think> 42', 'a\n\nb', '42'],
    ['a block that another tag closes', '<think>a</thinking>b', 'a', 'b'],
    ['a block that is never closed', '<think>The answer is A', 'The answer is A', ''],
    ['a block behind another one that is never closed', 'a</think><think>b', 'a\n\nb', ''],
    ['a block alone', '<think>7</think>\n', '7', ''],
    ['an empty block', '<think>\n\n</think>\n\n7', '', '7'],
    ['tags in the middle', 'Use <think>x</think> for it.', null, 'Use <think>x</think> for it.'],
    ['an open tag in the middle', 'Use <think> for it.', null, 'Use <think> for it.'],
    ['tags behind the reasoning', '<think>a</think>Use <think>x</think>.', 'a', 'Use <think>x</think>.'],
    ['a tag in code', 'It ends with `</think>` here.', null, 'It ends with `</think>` here.'],
    ['a tag in a fence', '```html\n</think>\n```\nDone', null, '```html\n</think>\n```\nDone'],
    ['code in a block', '<think>`</think>` ends it</think>b', '`</think>` ends it', 'b'],
    ['a fence that the reasoning leaves open', '<think>\n```py\n1\n</think>\nb', '```py\n1', 'b'],
    ['a fence that the template’s block leaves open', '```py\n1\n</think>\nb', '```py\n1', 'b'],
    ['a tag in quotes', 'Type "</think>" to end it.', null, 'Type "</think>" to end it.'],
    ['quotes around a closing tag', '<think>"a"</think>"b"', '"a"', '"b"'],
    ['another tag', '<thinker>a</thinker>b', null, '<thinker>a</thinker>b'],
    ['Harmony', `<|channel|>analysis<|message|>a<|end|><|start|>assistant${final}b<|return|>`, 'a', 'b'],
    ['Harmony that the template opened', `a<|end|><|start|>assistant${final}b`, 'a', 'b'],
    ['Harmony without its first marker', `analysis<|message|>a<|end|><|start|>assistant${final}b`, 'a', 'b'],
    ['Harmony without reasoning', `${final}b`, '', 'b'],
    ['the last final message', `${final}a<|end|>${final}b`, 'a', 'b'],
    ['Harmony that was cut', '<|channel|>analysis<|message|>The answer is A', 'The answer is A', ''],
    [
      'Harmony with a format',
      '<|channel|>analysis<|message|>a<|end|><|channel|>final <|constrain|>json<|message|>{}',
      'a',
      '{}',
    ],
  ])('reads %s', (_name, output, reasoning, text) => {
    expect(splitReasoning(output)).toEqual({ reasoning, text });
  });

  it('leaves a text without tags as it is, and never puts a tag’s block into the answer', () => {
    const plain = fc.string().filter((text) => !/[<[\]>`~]/.test(text));
    fc.assert(
      fc.property(plain, plain, (thought, answer) => {
        expect(splitReasoning(answer)).toEqual({ reasoning: null, text: answer });
        expect(splitReasoning(`<think>${thought}</think>${answer}`)).toEqual({
          reasoning: thought.trim(),
          text: answer.trim(),
        });
        // a tag in quotes is text
        if (!/["']$/.test(thought))
          expect(splitReasoning(`${thought}</think>${answer}`).text).toBe(answer.trim());
      }),
    );
  });

  it.each([
    '<think>',
    '</think>',
    '<think ',
    '<|channel|>',
    '`',
    '```\n',
    '</think',
    '[THINK]',
    '\n ',
    `${final}`,
  ])('reads a million characters of %j in linear time', (piece) => {
    const output = piece.repeat(1_000_000 / piece.length);
    const { reasoning, text } = splitReasoning(output);
    expect((reasoning ?? '').length + text.length).toBeLessThanOrEqual(output.length);
  });
});
