import { describe, expect, it } from 'vitest';
import { errorGroup, foldMessage } from './error-group.ts';

const groupOf = (message: string): string => errorGroup({ code: 'provider_error', message });

describe('errors of one kind are one group', () => {
  it.each([
    ['ids of hexadecimal digits', 'Request 3f9a2c failed.', 'Request b81d04 failed.'],
    ['ids that happen to be digits', 'Request 3f9a2c failed.', 'Request 482913 failed.'],
    ['short ids', 'Slot e4b7 is busy.', 'Slot 0c1f is busy.'],
    ['ids in upper case', 'Request 3F9A2C failed.', 'Request B81D04 failed.'],
    ['addresses', 'Fault at 0x7f3a9c.', 'Fault at 0x81d04b.'],
    ['ids after a prefix', 'Cannot finish req_3f9a2c1e.', 'Cannot finish req_77b81d04.'],
    ['long ids', 'Request 3f9a2c1eb81d failed.', 'Request 482913772910 failed.'],
    ['numbers', 'At most 8,192 tokens, got 9,001.', 'At most 8,192 tokens, got 12,345.'],
  ])('%s', (_, message, other) => {
    expect(groupOf(message)).toBe(groupOf(other));
  });
});

describe('different errors are different groups', () => {
  it.each([
    ['words', 'The request failed.', 'The request faded.'],
    ['words of hexadecimal letters', 'Cannot read the facade.', 'Cannot read the decade.'],
    ['names with digits', 'No model llama3 here.', 'No model qwen2 here.'],
    ['units', 'Limit 100k reached.', 'Limit 100s reached.'],
  ])('%s', (_, message, other) => {
    expect(groupOf(message)).not.toBe(groupOf(other));
  });

  it('by their code', () => {
    const message = 'The same.';
    expect(errorGroup({ code: 'a', message })).not.toBe(errorGroup({ code: 'b', message }));
  });
});

it('shows numbers and identifiers apart', () => {
  expect(foldMessage('Request 3f9a2c: 42 of 100k tokens in 1.5 s')).toBe(
    'Request <id>: <n> of <n>k tokens in <n> s',
  );
});
