import { describe, expect, it } from 'vitest';
import { acceptRequestId, newRequestId, RequestIdError } from './http/observe-request.ts';

describe('acceptRequestId', () => {
  it.each(['abc', 'a, b', '0', 'É', 'x'.repeat(1_024), '6F9619FF-8B86-D011-B42D-00C04FC964FF'])(
    'keeps %j',
    (id) => {
      expect(acceptRequestId(id)).toBe(id);
    },
  );

  it.each([undefined, ''])('makes one for %j', (header) => {
    expect(acceptRequestId(header)).toMatch(/^[0-9a-f]{32}$/);
  });

  it('refuses a longer one', () => {
    expect(() => acceptRequestId('x'.repeat(1_025))).toThrow(RequestIdError);
    expect(() => acceptRequestId('x'.repeat(1_025))).toThrow('at most 1024 characters, got 1025.');
  });

  it('makes a new one each time', () => {
    expect(new Set(Array.from({ length: 100 }, newRequestId)).size).toBe(100);
  });
});
