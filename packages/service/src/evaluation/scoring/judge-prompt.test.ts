import type { Item } from '@svc/jsonl-v23';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { judgePrompt } from './judge-question.ts';

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
