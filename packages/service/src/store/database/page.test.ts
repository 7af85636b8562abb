import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from './page.ts';

const raw = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a cursor', () => {
  it('comes back as it was', () => {
    const id = randomUUID();
    expect(decodeCursor('runs', ['time', 'uuid'], encodeCursor('runs', ['1700000000123456', id]))).toEqual([
      '1700000000123456',
      id,
    ]);
    expect(decodeCursor('items', ['index', 'index'], encodeCursor('items', [0, 2_147_483_647]))).toEqual([
      0, 2_147_483_647,
    ]);
  });

  it.each([
    ['of another list', raw(['runs', 1, 2])],
    ['too short', raw(['items', 1])],
    ['too long', raw(['items', 1, 2, 3])],
    ['negative', raw(['items', -1, 0])],
    ['beyond an index', raw(['items', 2_147_483_648, 0])],
    ['a fraction', raw(['items', 0.5, 0])],
    ['a text', raw(['items', '1', 0])],
    ['null', raw(null)],
    ['an object', raw({ 0: 'items' })],
    ['no JSON', Buffer.from('items').toString('base64url')],
    ['no base64', '%%%'],
    ['empty', ''],
  ])('is refused when it is %s', (_, cursor) => {
    expect(() => decodeCursor('items', ['index', 'index'], cursor)).toThrow(
      expect.objectContaining({ code: 'invalid_cursor' }),
    );
  });

  it.each([1_700_000_000_123, '1.5', '01', '-0', '1e3', '12345678901234567', '2026-01-01', '', null])(
    'is refused with the time %j',
    (time) => {
      expect(() => decodeCursor('runs', ['time'], raw(['runs', time]))).toThrow(
        expect.objectContaining({ code: 'invalid_cursor' }),
      );
    },
  );

  it('is shown shortened in the message', () => {
    expect(() => decodeCursor('items', ['index'], 'x'.repeat(5_000))).toThrow(
      /^The cursor "x{100}…" does not/,
    );
  });
});
