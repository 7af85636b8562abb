import { describe, expect, it } from 'vitest';
import { acceptRequestId, newRequestId } from './request-id.ts';

describe('acceptRequestId', () => {
  it.each(['abc', 'a, b', '0', 'É', 'x'.repeat(128), '6F9619FF-8B86-D011-B42D-00C04FC964FF'])(
    'keeps %j',
    (id) => {
      expect(acceptRequestId(id)).toBe(id);
    },
  );

  it.each([undefined, '', 'x'.repeat(129)])('makes one for %j', (header) => {
    expect(acceptRequestId(header)).toMatch(/^[0-9a-f]{32}$/);
  });

  it('makes a new one each time', () => {
    expect(new Set(Array.from({ length: 100 }, newRequestId)).size).toBe(100);
  });
});
