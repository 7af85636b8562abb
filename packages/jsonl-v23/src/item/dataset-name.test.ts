import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDatasetName, SECTION_NAME_PATTERN, toDatasetName, withoutControls } from './dataset-name.ts';

describe('isDatasetName', () => {
  it.each(['n', '  n ', '😀'.repeat(255), 'n'.repeat(255), 'a\u2028b'])('accepts %j', (name) => {
    expect(isDatasetName(name)).toBe(true);
  });

  it.each([
    '',
    '   ',
    '\u00a0\ufeff',
    'a\0b',
    'a\u0085b',
    '\ud800',
    '😀'.repeat(256),
    'n'.repeat(256),
    7,
    null,
  ])('refuses %j', (name) => {
    expect(isDatasetName(name)).toBe(false);
  });
});

describe('toDatasetName', () => {
  it('makes a name of each text', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(' ', '\ufeff', '\0', 'a', '\ud800') }),
    );
    fc.assert(fc.property(texts, (text) => isDatasetName(toDatasetName(text.repeat(20), 'fallback'))));
  });

  it.each([
    [' trivia qa\n', 'trivia qa'],
    ['a\0b\u0085c', 'abc'],
    ['😀'.repeat(300), '😀'.repeat(255)],
    [' \u2028\0', 'fallback'],
  ])('makes of %j %j', (text, name) => {
    expect(toDatasetName(text, 'fallback')).toBe(name);
  });
});

describe('withoutControls', () => {
  it('leaves what a section may be called', () => {
    const pattern = new RegExp(SECTION_NAME_PATTERN, 'u');
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => pattern.test(withoutControls(text))));
    expect(withoutControls(' a\0\u009f\ud800 ')).toBe(' a\ufffd ');
  });
});
