import { CHECKERS } from '@svc/client';
import { describe, expect, it } from 'vitest';
import { checkerFormOf, checkerOf, EMPTY_CHECKER, optionFields } from './checker-form.ts';

describe('the form of a checker', () => {
  it.each<[unknown, object | undefined]>([
    [undefined, undefined],
    ['numeric', { type: 'numeric' }],
    [
      { type: 'numeric', tolerance: 0.5 },
      { type: 'numeric', tolerance: 0.5 },
    ],
    [
      { type: 'exact_match', trim: false, ignore_case: true },
      { type: 'exact_match', trim: false, ignore_case: true },
    ],
    [{ type: 'exact_match', trim: true }, { type: 'exact_match' }],
    [
      { type: 'regex', pattern: '^4', flags: null },
      { type: 'regex', pattern: '^4' },
    ],
    [
      { type: 'tool_calls', order: 'strict' },
      { type: 'tool_calls', order: 'strict' },
    ],
    [
      { type: 'numeric', later: 1 },
      { type: 'numeric', later: 1 },
    ],
  ])('sends %j of a copied run as %j', (checker, sent) => {
    expect(checkerOf(checkerFormOf(checker), { checker })).toEqual(sent);
  });

  it('has a field for every option, shown for its checker alone', () => {
    const fields = optionFields<string>('checker.options', '/config/checker', (type) => type);
    for (const { name, options } of CHECKERS) {
      const shown = fields.filter(({ isShown }) => isShown?.(name));
      expect(shown.map(({ pointer }) => pointer?.slice('/config/checker/'.length)).sort()).toEqual(
        Object.keys(options).sort(),
      );
      for (const option of Object.keys(options)) expect(EMPTY_CHECKER.options).toHaveProperty(option);
    }
  });
});
