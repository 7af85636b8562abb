import { toJsonText } from '@svc/service';
import { expect, it } from 'vitest';
import { COUNT, ITEM_ID, listOf, record, SHA256, storedJson, TEXT, TIME_OR_NULL } from './schemas.ts';

interface Part {
  readonly partName: string;
  readonly isInternal: boolean;
}

interface Whole {
  readonly itemId: string | null;
  readonly itemHash: Uint8Array;
  readonly endedAt: Date | null;
  readonly ci95: number;
  readonly parts: readonly Part[];
}

it('takes the members of a schema from those of the same name', () => {
  const part = record<Part>({ part_name: TEXT });
  const whole = record<Whole>({
    item_id: storedJson(ITEM_ID),
    item_hash: SHA256,
    ended_at: TIME_OR_NULL,
    ci95: COUNT,
    parts: listOf(part, { type: 'array', items: part.schema }),
  });
  expect(whole.schema).toEqual({
    type: 'object',
    properties: {
      item_id: ITEM_ID,
      item_hash: SHA256,
      ended_at: TIME_OR_NULL,
      ci95: COUNT,
      parts: {
        type: 'array',
        items: { type: 'object', properties: { part_name: TEXT }, required: ['part_name'] },
      },
    },
    required: ['item_id', 'item_hash', 'ended_at', 'ci95', 'parts'],
  });
  const value: Whole = {
    itemId: '12345678901234567890',
    itemHash: new Uint8Array([1, 255]),
    endedAt: new Date(0),
    ci95: 1,
    parts: [{ partName: 'a', isInternal: true }],
  };
  expect(toJsonText(whole.toBody(value))).toBe(
    '{"item_id":12345678901234567890,"item_hash":"01ff","ended_at":"1970-01-01T00:00:00.000Z","ci95":1,"parts":[{"part_name":"a"}]}',
  );
  expect(whole.toBody({ ...value, itemId: null, endedAt: null })).toMatchObject({
    item_id: null,
    ended_at: null,
  });
  // @ts-expect-error: the record has no such member
  record<Whole>({ item_name: TEXT });
});
