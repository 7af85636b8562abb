import { expect, it } from 'vitest';
import { numbersOf } from './insert-results.ts';

it.each(['constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty'])(
  'knows only the scores that a result has, also by the name %s',
  (name) => {
    const score = { score: 1, passed: true };
    expect(numbersOf({ m: score }, [name, 'm'])).toEqual({
      scorerScores: '{NULL,1}',
      scorerPassed: '{NULL,TRUE}',
    });
    const own = Object.fromEntries([[name, score]]);
    expect(numbersOf(own, [name])).toEqual({ scorerScores: '{1}', scorerPassed: '{TRUE}' });
  },
);
