import type { Item } from '@svc/jsonl-v23';
import { ExactNumber, type JsonValue } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { checkOutput } from '../../test/evaluation/check-output.ts';
import type { CheckOutcome } from './checkers/checker.ts';
import type { Judge } from './scoring/ask-judge.ts';
import { createCheckRunner } from './threads/check-runner.ts';

const exact = (text: string) => new ExactNumber(text);

const checks = createCheckRunner({ threads: 0 });

function check(item: Item, output: JsonValue, judge: Judge | null = null): Promise<CheckOutcome> {
  return checkOutput({ item, output, judge, checks, signal: new AbortController().signal });
}

/** true: passed, false: not passed, null: unscored */
async function verdict(item: Item, output: JsonValue): Promise<boolean | null> {
  const outcome = await check(item, output);
  expect(outcome.score).toBe(outcome.passed === null ? null : outcome.passed ? 1 : 0);
  expect(outcome.status).toBe(outcome.passed === null ? 'unscored' : 'ok');
  return outcome.passed;
}

describe('exact_match', () => {
  it.each<[JsonValue, JsonValue, boolean | null, object?]>([
    ['Paris', 'Paris', true],
    ['Paris', ' Paris\n', true],
    ['Paris', 'paris', false],
    ['Paris', 'paris', true, { ignore_case: true }],
    ['Paris', ' Paris', false, { trim: false }],
    ['é', 'e\u0301', true],
    ['a\nb', 'a\r\nb', true],
    [['Paris', 'Lutetia'], 'Lutetia', true],
    [['Paris', 'Lutetia'], 'Rome', false],
    [['a', 'b'], ['a', 'b'], true],
    [5, '5', true],
    [5, '5.0', false],
    [exact('9007199254740993'), '9007199254740993', true],
    [exact('9007199254740993'), '9007199254740992', false],
    [true, 'true', true],
    [{ b: 1, a: 2 }, { a: 2, b: 1 }, true],
    [null, 'x', null],
    ['', 'x', null],
    [[], 'x', null],
  ])('answer %j, output %j: %j %j', async (answer, output, expected, options) => {
    expect(await verdict({ answer, checker: { type: 'exact_match', ...options } }, output)).toBe(expected);
  });

  it('is unscored without an answer', async () => {
    expect(await verdict({ checker: { type: 'exact_match' } }, 'x')).toBeNull();
  });

  it('may be named as a string', async () => {
    expect(await verdict({ answer: 'x', checker: 'exact_match' }, 'x')).toBe(true);
  });
});

describe('includes', () => {
  it.each<[JsonValue, JsonValue, boolean | null, object?]>([
    ['Paris', 'It is Paris.', true],
    ['Paris', 'It is paris.', false],
    ['Paris', 'It is paris.', true, { ignore_case: true }],
    [['a1', 'b2'], 'has b2', true],
    [['a1', 'b2'], 'has b2', false, { all: true }],
    [['a1', 'b2'], 'b2 a1', true, { all: true }],
    [42, 'is 42.', true],
    ['  ', 'x', null],
    [[''], 'x', null],
    ['k', { k: 1 }, true],
    ['art', 'It is a part.', true],
    ['art', 'It is a part.', false, { words: true }],
    ['art', 'It is a part of art.', true, { words: true }],
    ['art', 'Art, of course', false, { words: true }],
    ['青', '青です', true, { words: true }],
  ])('answer %j, output %j: %j %j', async (answer, output, expected, options) => {
    expect(await verdict({ answer, checker: { type: 'includes', ...options } }, output)).toBe(expected);
  });
});

describe('regex', () => {
  it.each<[string, JsonValue, boolean, object?]>([
    ['^\\d{4}-\\d{2}$', '2024-05', true],
    ['\\d+', 'no', false],
    ['yes', 'YES', false],
    ['yes', 'YES', true, { flags: 'i' }],
    ['^b$', 'a\nb', false],
    ['^b$', 'a\nb', true, { flags: 'm' }],
    ['a.b', 'a\nb', true, { flags: 's' }],
    ['(?<year>\\d{4})', 'in 1999', true],
    ['\\u0041[\\w-]+', 'A-b', true],
    ['\\p{Lu}', 'É', true, { flags: 'u' }],
    ['a|b', 'xb', false, { full_match: true }],
    ['a|ab', 'ab', true, { full_match: true }],
  ])('%j on %j: %j %j', async (pattern, output, expected, options) => {
    expect(await verdict({ checker: { type: 'regex', pattern, ...options } }, output)).toBe(expected);
  });

  it('uses the answer as its pattern', async () => {
    expect(await verdict({ answer: '^x+$', checker: { type: 'regex' } }, 'xxx')).toBe(true);
    expect(await verdict({ checker: { type: 'regex' } }, 'xxx')).toBeNull();
  });

  it('takes linear time in the output', async () => {
    for (const pattern of ['(a+)+$', '^(a|a)*$', '^(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$']) {
      expect(await verdict({ checker: { type: 'regex', pattern } }, `${'a'.repeat(50_000)}!`)).toBe(false);
    }
  });

  it.each([
    ['(?=a)b', 'look-ahead'],
    ['(?<!a)b', 'look-behind'],
    ['(a)\\1', 'a back-reference'],
    ['(?<n>a)\\k<n>', 'a named back-reference'],
    ['(', 'a mistake'],
    ['(a{1000}){1000}', 'too large a repeat'],
    ['a'.repeat(2_001), 'too long a pattern'],
  ])('rejects %s (%s)', async (pattern) => {
    await expect(check({ checker: { type: 'regex', pattern } }, 'a')).rejects.toMatchObject({
      code: 'checker_invalid',
    });
  });

  it('rejects a check that would take too long', async () => {
    const pattern = '([ab]?[bc]?){900}x';
    await expect(check({ checker: { type: 'regex', pattern } }, 'ab'.repeat(50_000))).rejects.toMatchObject({
      code: 'checker_limit',
    });
  });

  it.each([
    { pattern: 1 },
    { pattern: 'a', flags: 'y' },
    { pattern: 'a', flags: 1 },
    { pattern: 'a', full_match: 'yes' },
  ])('rejects the options %j', async (options) => {
    await expect(check({ checker: { type: 'regex', ...options } }, 'a')).rejects.toMatchObject({
      code: 'checker_invalid',
    });
  });
});

describe('numeric', () => {
  it.each<[JsonValue, JsonValue, boolean | null, JsonValue?]>([
    [42, '42', true],
    [42, 'The answer is 42.', true],
    [42, 'First 41, then 42', true],
    [42, 'First 42, then 41', false],
    [42, 42, true],
    ['42', '42.0', true],
    [1234567, '1,234,567', true],
    [1234567.5, '$1,234,567.50 in all', true],
    [-5, 'x = -5', true],
    [-5, '\u22125', true],
    [5, '10-5', false],
    [0.5, '.5', true],
    [1000, '1e3', true],
    [1e21, '1E+21', true],
    [7, '007', true],
    [3, 'none', false],
    [3, 'no. - or +', false],
    ['#### 72', 'so 72', true],
    [[1, 2], '2', true],
    [1.1, '1', false, 0.09],
    [1.1, '1', true, 0.1],
    [0.3, 0.1, true, 0.2],
    [100, '105', true, 5],
    [100, '105.0000001', false, 5],
    [exact('12345678901234567890'), '12345678901234567891', false],
    [exact('12345678901234567890'), '12345678901234567891', true, 1],
    [exact('12345678901234567890'), '12345678901234567890', true],
    [1, '1e999999999', false],
    ['abc', '1', null],
    [null, '1', null],
    [5, 'item5', false],
    [20, '10-20', false],
    [1.5, '3/2', true],
    ['3/2', '1.5', true],
    ['(1,2)', '2', null],
  ])('answer %j, output %j: %j (tolerance %j)', async (answer, output, expected, tolerance) => {
    const checker = { type: 'numeric', ...(tolerance === undefined ? {} : { tolerance }) };
    expect(await verdict({ answer, checker }, output)).toBe(expected);
  });

  it.each<JsonValue>([-1, '1', true])('rejects the tolerance %j', async (tolerance) => {
    await expect(check({ answer: 1, checker: { type: 'numeric', tolerance } }, '1')).rejects.toMatchObject({
      code: 'checker_invalid',
    });
  });

  it.each<[JsonValue, JsonValue, boolean | null, object]>([
    [100, '105', true, { relative_tolerance: 0.05 }],
    [100, '106', false, { relative_tolerance: 0.05 }],
    [-100, '-95', true, { relative_tolerance: 0.05 }],
    [0, '0.1', false, { relative_tolerance: 0.5 }],
    [0, '0.1', true, { relative_tolerance: 0.5, tolerance: 0.1 }],
    ['1.234,5', '1234,50', true, { decimal: ',' }],
    ['1.234,5', '1234.5', null, {}],
    [3.5, 'etwa 3,5', true, { decimal: ',' }],
  ])('answer %j, output %j: %j %j', async (answer, output, expected, options) => {
    expect(await verdict({ answer, checker: { type: 'numeric', ...options } }, output)).toBe(expected);
  });

  it.each([{ relative_tolerance: -1 }, { relative_tolerance: '1' }, { decimal: ';' }, { decimal: 1 }])(
    'rejects %j',
    async (options) => {
      await expect(check({ answer: 1, checker: { type: 'numeric', ...options } }, '1')).rejects.toMatchObject(
        { code: 'checker_invalid' },
      );
    },
  );

  it('explains which number it read', async () => {
    expect(await check({ answer: 1, checker: { type: 'numeric' } }, 'is 2.50')).toMatchObject({
      explanation: 'Read 2.5 from "is 2.50"',
    });
  });

  it('is fast on long outputs without a number', async () => {
    expect(await verdict({ answer: 1, checker: { type: 'numeric' } }, '1,'.repeat(1_000_000))).toBe(false);
    expect(await verdict({ answer: 2, checker: { type: 'numeric' } }, '-'.repeat(1_000_000))).toBe(false);
  });
});

describe('choice', () => {
  const cities = ['Paris', 'Rome', 'New York', 'York'];
  it.each<[JsonValue, JsonValue, boolean | null]>([
    ['B', 'B', true],
    ['B', 'b', true],
    ['B', '(B)', true],
    ['B', '**B**', true],
    ['B', 'B. Rome', true],
    ['B', 'B) Rome', true],
    ['B', 'Rome', true],
    ['B', 'rome.', true],
    ['B', 'The answer is B.', true],
    ['B', 'The answer is (B) because A is wrong.', true],
    ['B', 'Answer: **B**', true],
    ['B', 'I first thought the answer is A. No: the correct answer is B', true],
    ['B', 'so \\boxed{B}', true],
    ['B', 'The capital of Italy is Rome.', true],
    ['B', 'Let me think.\n\nB', true],
    ['B', 'It must be B', true],
    ['B', 'A', false],
    ['B', 'A or B', false],
    ['B', 'Paris or Rome', false],
    ['B', 'I do not know', false],
    ['B', '', false],
    ['Rome', 'B', true],
    [1, 'B', true],
    [0, 'A', true],
    ['1', 'B', true],
    [1, 1, true],
    [1, 0, false],
    ['C', 'I say New York', true],
    ['D', 'I say New York', false],
    ['D', 'York', true],
    [{ label: 'B' }, 'B', true],
    ['Z', 'B', null],
    [9, 'B', null],
    [null, 'B', null],
    [['A', 'B'], 'A, B', true],
    [['A', 'B'], 'A and B', true],
    [['A', 'B'], 'The answers are A and B.', true],
    [['A', 'B'], ['Rome', 'Paris'], true],
    [['A', 'B'], 'A', false],
    [['A', 'B'], 'A, B, C', false],
    [['B'], 'B', true],
    [[], 'B', null],
  ])('answer %j, output %j: %j', async (answer, output, expected) => {
    expect(await verdict({ type: 'multiple_choice', inputs: { choices: cities }, answer }, output)).toBe(
      expected,
    );
  });

  const own = [
    { label: '1', text: '4' },
    { label: '2', text: '1' },
    { label: '3', text: 'Mars' },
  ];
  it.each<[JsonValue, JsonValue, boolean | null]>([
    ['1', '1', true],
    [1, '1', true],
    ['Mars', '3', true],
    ['3', 'Mars', true],
    ['2', 'The answer is 2', true],
    ['2', '1', false],
  ])('own labels: answer %j, output %j: %j', async (answer, output, expected) => {
    expect(await verdict({ inputs: { choices: own }, answer, checker: 'choice' }, output)).toBe(expected);
  });

  it('prefers a choice whose text is a letter to the letter', async () => {
    const item = { inputs: { choices: ['C', 'A', 'B'] }, answer: 'A', checker: 'choice' };
    expect(await verdict(item, 'B')).toBe(true); // the choice lettered B is the text A
  });

  it('is unscored without choices', async () => {
    expect(await verdict({ answer: 'A', checker: 'choice' }, 'A')).toBeNull();
  });

  it('explains which choice was picked', async () => {
    expect(
      await check({ inputs: { choices: cities }, answer: 'B', checker: 'choice' }, 'Rome'),
    ).toMatchObject({ explanation: 'Picked B: "Rome"' });
  });

  it('is fast on hostile outputs', async () => {
    const item = { inputs: { choices: cities }, answer: 'B', checker: 'choice' };
    for (const part of [' ', '(', 'answer is ', 'answer', '\\boxed{', '*', '"', 'is : ', 'option ']) {
      await verdict(item, `${part.repeat(100_000)}x`);
    }
    const choices = Array.from({ length: 1_000 }, (_, i) => `choice ${i}`);
    await verdict({ inputs: { choices }, answer: 'B', checker: 'choice' }, 'x '.repeat(50_000));
    const more = { inputs: { choices: [...choices, 'one more'] }, answer: 'B', checker: 'choice' };
    await expect(check(more, 'B')).rejects.toMatchObject({ code: 'checker_limit' });
  });
});

describe('json_equal', () => {
  it.each<[JsonValue, JsonValue, boolean | null]>([
    [{ a: 1, b: [1, 2] }, '{"b": [1, 2.0], "a": 1e0}', true],
    [{ a: 1 }, '```json\n{"a": 1}\n```', true],
    [{ a: 1 }, { a: 1 }, true],
    [{ a: 1 }, '{"a": 2}', false],
    [[1, 2], '[2, 1]', false],
    [{ a: 1 }, 'not json', false],
    ['{"a": 1}', '{"a":1.0}', true],
    ['plain', 'plain', true],
    ['plain', '"plain"', true],
    [exact('9007199254740993'), '9007199254740993', true],
    [exact('9007199254740993'), '9007199254740992', false],
    [{ a: 1 }, '{"a":1,"a":1}', false],
    [{}, `${'['.repeat(100_000)}`, false],
    [null, 'null', null],
  ])('answer %j, output %j: %j', async (answer, output, expected) => {
    expect(await verdict({ answer, checker: { type: 'json_equal' } }, output)).toBe(expected);
  });
});

describe('an output that calls tools beside its text', () => {
  const calls = [{ id: 'c', type: 'function', function: { name: 'get', arguments: '{"city":"Paris"}' } }];
  const output = { content: '<think>7</think>The answer is 42.', tool_calls: calls };

  it('is read as its text, and by its calls', async () => {
    expect(await verdict({ answer: 42, checker: 'numeric' }, output)).toBe(true);
    expect(await verdict({ answer: 'get', checker: 'includes' }, output)).toBe(false);
    const answer = [{ name: 'get', arguments: { city: 'Paris' } }];
    expect(await verdict({ answer, checker: 'tool_calls' }, output)).toBe(true);
    expect(await verdict({ answer: [], checker: 'tool_calls' }, output)).toBe(false);
  });

  it('is the same JSON as an answer of that form', async () => {
    const checker = 'json_equal';
    expect(await verdict({ answer: output, checker }, output)).toBe(true);
    expect(await verdict({ answer: { ...output, content: '42' }, checker }, output)).toBe(false);
    expect(await verdict({ answer: { a: 1 }, checker }, { ...output, content: '{"a": 1.0}' })).toBe(true);
  });
});

describe('reasoning', () => {
  const items: Readonly<Record<string, Item>> = {
    exact_match: { answer: 'B' },
    includes: { answer: 'B' },
    regex: { answer: '^B$' },
    choice: { answer: 'B', inputs: { choices: ['red', 'green'] } },
    numeric: { answer: 7 },
    json_equal: { answer: 'B' },
  };
  const cases = Object.entries(items).map(
    ([type, item]) => [type, { ...item, checker: type }, type === 'numeric' ? '7' : 'B'] as const,
  );

  it.each(cases)('is not scored by %s', async (_type, item, right) => {
    for (const before of ['<think>A 8</think>\n', 'A 8</think>', '[THINK]A 8[/THINK]']) {
      expect(await verdict(item, `${before}${right}`)).toBe(true);
    }
    expect(await verdict(item, `<think>${right}</think>no`)).toBe(false);
  });

  it.each(cases)('without an answer fails by %s', async (_type, item, right) => {
    expect(await check(item, `<think>${right}`)).toEqual({
      ...{ status: 'ok', score: 0, passed: false },
      explanation: 'Only reasoning, no answer',
    });
    const { answer: _, ...without } = item;
    expect(await verdict(without, `<think>${right}`)).toBeNull();
  });

  it('is scored where the run says so', async () => {
    const item: Item = { answer: 'A', checker: 'includes' };
    const request = { item, output: '<think>A</think>B', judge: null, checks } as const;
    const signal = new AbortController().signal;
    expect(await checkOutput({ ...request, reasoning: 'score', signal })).toMatchObject({ passed: true });
    expect(await checkOutput({ ...request, reasoning: 'strip', signal })).toMatchObject({ passed: false });
  });

  it('is not sent to a judge, unless its prompt names it', async () => {
    const asked: string[] = [];
    const judge: Judge = {
      provider: {
        usesMessages: true,
        complete: async ({ conversationJson }) => {
          asked.push(new TextDecoder().decode(conversationJson));
          return { output: '{"score": 1}', usage: null, finishReason: null, attempts: null };
        },
      },
      ...{ threshold: 0.5, price: null, defaultPrompts: null },
    };
    await check({ checker: 'judge' }, '<think>secret plan</think>Rome', judge);
    await check(
      { checker: { type: 'judge', judge_prompt: 'Is {{reasoning}} sound?' } },
      '<think>secret plan</think>Rome',
      judge,
    );
    expect(await check({ checker: 'judge' }, '<think>secret plan', judge)).toMatchObject({ score: 0 });
    const beside = {
      item: { checker: 'judge' },
      output: '',
      thoughts: 'secret plan',
      judge,
      checks,
    } as const;
    expect(await checkOutput({ ...beside, signal: new AbortController().signal })).toMatchObject({
      score: 0,
    });
    expect(asked).toHaveLength(2);
    expect(asked[0]).not.toContain('secret plan');
    expect(asked[0]).toContain('Rome');
    expect(asked[1]).toContain('Is secret plan sound?');
  });
});

describe('checkOutput', () => {
  const judge: Judge = {
    provider: {
      usesMessages: true,
      complete: async () => ({ output: '{"score": 0.7}', usage: null, finishReason: null, attempts: null }),
    },
    threshold: 0.5,
    price: null,
    defaultPrompts: null,
  };

  it.each<[string, Item, JsonValue, boolean | null]>([
    ['exact', { type: 'exact', answer: 'x' }, 'x', true],
    ['numeric', { type: 'numeric', answer: 3 }, 'is 3', true],
    ['multiple_choice', { type: 'multiple_choice', inputs: { choices: ['x', 'y'] }, answer: 1 }, 'B', true],
    ['multiple_choice without choices', { type: 'multiple_choice', answer: 'x' }, 'x', null],
    ['freeform', { type: 'freeform', answer: 'x' }, 'x', null],
    ['no type', { answer: 'x' }, 'x', null],
    ['code', { type: 'code', answer: 'x' }, 'x', null],
    ['a null checker', { type: 'exact', answer: 'x', checker: null }, 'x', true],
    ['an object without a type', { type: 'exact', answer: 'X', checker: { ignore_case: true } }, 'x', true],
    ['a script', { type: 'exact', answer: 'x', checker: { path: 'checkers/run.py' } }, 'x', null],
    [
      'a type that is not known',
      { type: 'exact', answer: 'x', checker: { type: 'python', path: 'checkers/run.py' } },
      'x',
      null,
    ],
    [
      'a type named like a member of every object',
      { answer: 'x', checker: { type: 'constructor' } },
      'x',
      null,
    ],
    ['an item type named like one', { type: 'toString', answer: 'x' }, 'x', null],
  ])('chooses for %s', async (_name, item, output, expected) => {
    expect(await verdict(item, output)).toBe(expected);
  });

  it.each<[string, Item, boolean]>([
    ['criteria', { criteria: ['is kind'] }, true],
    ['a judge prompt', { meta: { judge_prompt: 'Is it kind?' } }, true],
    ['neither', { answer: 'x' }, false],
    ['an exact answer', { type: 'exact', answer: 'y', criteria: ['is kind'] }, false],
    ['an exact item without an answer', { type: 'exact', criteria: ['is kind'] }, true],
  ])('asks the judge for an item with %s: %j', async (_name, item, asked) => {
    const outcome = await check(item, 'x', judge);
    expect(outcome.score === 0.7).toBe(asked);
  });

  it('rejects options of the wrong type', async () => {
    await expect(
      check({ answer: 'x', checker: { type: 'exact_match', ignore_case: 'yes' } }, 'x'),
    ).rejects.toMatchObject({
      code: 'checker_invalid',
      message: 'checker.ignore_case must be true or false.',
    });
  });
});
