import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHOICE } from '../../../../../packages/service/src/evaluation/checkers/choice.ts';
import { choicesOf, messagesOf, otherInputsOf, questionOf, tagsOf } from './item-reading.ts';

describe('the choices of an item', () => {
  const values = fc.oneof(
    fc.constantFrom<JsonValue>(
      'A',
      'b',
      'C',
      '0',
      '1',
      '2',
      'Paris',
      ' paris ',
      'ÉTÉ',
      'e\u0301te\u0301',
      '',
    ),
    fc.integer({ min: 0, max: 4 }),
  );
  const options = fc.oneof(
    values,
    fc.record({ label: values, text: values }),
    fc.record({ text: values }),
  ) as fc.Arbitrary<JsonValue>;

  it('marks exactly those that the checker takes for the answer', () => {
    fc.assert(
      fc.property(
        fc.array(options, { minLength: 1, maxLength: 5 }),
        fc.oneof(values, fc.array(values)),
        (choices, answer) => {
          const item = { inputs: { prompt: '?', choices }, answer } as JsonObject;
          const marked = choicesOf(item);
          // an output names choices by their labels, which must say which one they mean
          const names = marked.flatMap(({ label, text }) => [label, text]);
          const different = new Set(names.map((name) => name.trim().normalize('NFC').toLowerCase()));
          fc.pre(different.size === names.length);
          const outcome = CHOICE.check({
            output: marked.filter(({ isRight }) => isRight).map(({ label }) => ({ label })),
            item,
            options: {},
          } as never);
          if (outcome.status === 'ok') expect(outcome.passed).toBe(true);
        },
      ),
    );
  });

  it.each([
    [2, [false, false, true]],
    ['b', [false, true, false]],
    ['Three', [false, false, true]],
    [
      ['A', 2],
      [true, false, true],
    ],
    [7, [false, false, false]],
  ])('marks what %j means', (answer, right) => {
    const item = { inputs: { choices: ['One', 'Two', 'Three'] }, answer } as JsonObject;
    expect(choicesOf(item).map(({ isRight }) => isRight)).toEqual(right);
  });
});

describe('the choices of an item in other forms', () => {
  it.each([
    [{ B: 'two', A: 'one' }],
    [{ label: ['A', 'B'], text: ['one', 'two'] }],
    ["['one' 'two']"],
    [
      [
        { key: 'A', value: 'one' },
        { key: 'B', value: 'two' },
      ],
    ],
  ])('are those that a model is shown: %j', (choices) => {
    const item = { inputs: { prompt: '?', choices }, answer: 'B' } as JsonObject;
    expect(choicesOf(item)).toEqual([
      { label: 'A', text: 'one', isRight: false },
      { label: 'B', text: 'two', isRight: true },
    ]);
    expect(otherInputsOf(item)).toEqual({});
  });

  it('stay in view where they have none of these, as any other input does', () => {
    const inputs = { choices: 3, tools: 'none', system_prompt: ['Be kind.'], context: null };
    const item = { inputs: { prompt: '?', messages: null, ...inputs } } as JsonObject;
    expect(choicesOf(item)).toEqual([]);
    expect(otherInputsOf(item)).toEqual(inputs);
  });
});

describe('the messages of an item', () => {
  it('loses no member of a message, of a part or of a call', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":"x"}' } };
    const item = {
      inputs: {
        messages: [
          {
            role: 'user',
            name: 'Ada',
            content: [
              { type: 'text', text: 'Look' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
            ],
          },
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: 'c1', content: 'found' },
          'a text',
        ],
      },
    } as JsonObject;
    const [user, assistant, tool, text] = messagesOf(item) ?? [];
    expect(user).toMatchObject({ role: 'user', rest: { name: 'Ada' } });
    expect(user?.parts.map(({ kind }) => kind)).toEqual(['text', 'file']);
    expect(assistant?.calls).toEqual([{ id: 'c1', name: 'search', arguments: '{"q":"x"}' }]);
    expect(tool).toMatchObject({ resultOf: 'c1', parts: [{ kind: 'text', text: 'found' }] });
    expect(text?.parts).toEqual([{ kind: 'other', value: 'a text' }]);
    expect(questionOf(item)).toBe('Look [image] (4 messages, 1 call)');
  });

  it('is listed by what tells it from others: the first message of a user, and how much follows', () => {
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Is the 9:40 late?' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'find', input: {} }] },
      { role: 'user', content: 'Yes please.' },
    ];
    const listed = (some: typeof messages, max?: number) =>
      questionOf({ inputs: { messages: some } } as JsonObject, max);
    expect(listed(messages)).toBe('Is the 9:40 late? (4 messages, 1 call)');
    expect(listed(messages, 6)).toBe('Is the… (of 17 characters) (4 messages, 1 call)');
    expect(listed(messages.slice(1, 2))).toBe('Is the 9:40 late?');
    expect(listed(messages.slice(0, 1))).toBe('Be kind.');
  });
});

it('has each tag once, as what counts the items of a tag must', () => {
  expect(tagsOf({ tags: ['easy', 'hard', 'easy', 1] })).toEqual(['easy', 'hard']);
});
