import type { Item, ItemParts } from '@svc/jsonl-v23';
import { canonicalJson, getMember, isJsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planCheck } from '../scoring/plan-check.ts';
import { buildMessages } from './build-messages.ts';
import { isIndex, pointerSteps, textAt } from './canonical-text.ts';
import { itemIdText, readItem } from './large-item.ts';

function stored({ answer, checker, assets, ...payload }: Item): ItemParts {
  const text = (value: JsonValue | undefined): string | null =>
    value === undefined ? null : canonicalJson(value);
  return {
    payload: canonicalJson(payload),
    answer: text(answer),
    checker: text(checker),
    assets: text(assets),
  };
}

const jsonValue = fc
  .jsonValue({ maxDepth: 4, stringUnit: 'binary' })
  .map((value) => parseJson(canonicalJson(value as JsonValue)));
const jsonObject = fc.dictionary(fc.string({ unit: 'binary' }), jsonValue);

/** Pointers to every value inside a value. */
function pointersIn(value: JsonValue, at = ''): string[] {
  const entries = Array.isArray(value)
    ? [...value.entries()]
    : isJsonObject(value)
      ? Object.entries(value)
      : [];
  const inner = entries.flatMap(([key, member]) =>
    pointersIn(member, `${at}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
  return [at, ...inner];
}

function valueAt(item: JsonValue, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = item;
  for (const step of pointerSteps(pointer)) {
    if (Array.isArray(value)) value = isIndex(step) ? value[Number(step)] : undefined;
    else value = value !== undefined && isJsonObject(value) ? getMember(value, step) : undefined;
  }
  return value;
}

describe('textAt', () => {
  it('finds the value at a pointer, like reading the whole item', () => {
    fc.assert(
      fc.property(
        jsonObject,
        jsonValue,
        jsonValue,
        fc.string({ unit: 'binary' }),
        (payload, answer, assets, other) => {
          const item = { ...payload, answer, assets, 'm~/n': { '': [1] } };
          const extra = [
            '/x/y',
            '/answer/0',
            '/meta/00',
            `/${other.replaceAll('~', '').replaceAll('/', '')}/-`,
          ];
          for (const pointer of [...pointersIn(item), ...extra]) {
            const value = valueAt(item, pointer);
            const text = textAt(stored(item as Item), pointer);
            expect(text).toBe(value === undefined ? undefined : canonicalJson(value));
          }
        },
      ),
    );
  });
});

describe('readItem', () => {
  const inputs = fc.record(
    {
      prompt: fc.string({ unit: 'binary' }),
      system_prompt: fc.string(),
      messages: fc.array(fc.record({ role: fc.constantFrom('user', 'assistant'), content: jsonValue })),
      choices: fc.array(fc.oneof(fc.string(), fc.record({ label: fc.string(), text: fc.string() }))),
      other: jsonValue,
    },
    { requiredKeys: [] },
  );
  const anyItem = fc.record(
    {
      id: fc.oneof(fc.string(), fc.integer()),
      type: fc.constantFrom('exact', 'numeric', 'multiple_choice', 'freeform'),
      inputs,
      answer: jsonValue,
      assets: fc.dictionary(
        fc.string(),
        fc.record({ data: fc.string(), mime_type: fc.constant('image/png') }),
      ),
      checker: fc.oneof(fc.constantFrom('exact_match', 'choice', 'judge', 'x'), jsonObject),
      criteria: fc.array(jsonValue),
      meta: jsonObject,
      zzz: jsonValue,
    },
    { requiredKeys: [] },
  );
  const outcomeOf = (make: () => unknown): unknown => {
    try {
      return make();
    } catch (error) {
      return String(error);
    }
  };
  const withoutNonce = (plan: unknown): string =>
    JSON.stringify(plan, (_, value) =>
      value instanceof Uint8Array ? new TextDecoder().decode(value) : value,
    )?.replaceAll(/(?<=mark |<<< [A-Za-z ]{1,30} )[0-9a-f]{16}/g, '') ?? '';

  it('leads to the same messages and check as the whole item', () => {
    fc.assert(
      fc.property(anyItem, jsonValue, (given, output) => {
        const item = parseJson(canonicalJson(given as Item)) as Item;
        const read = readItem(stored(item));
        expect(outcomeOf(() => buildMessages(read))).toEqual(outcomeOf(() => buildMessages(item)));
        for (const judge of [null, { defaultPrompts: 'default' }]) {
          const plan = (of: Item): string =>
            withoutNonce(
              outcomeOf(() => planCheck({ item: of, output, reasoning: 'strip', thoughts: null, judge })),
            );
          expect(plan(read)).toBe(plan(item));
        }
        const id = itemIdText(stored(item));
        expect(id === null ? null : parseJson(id)).toEqual(getMember(item, 'id') ?? null);
      }),
    );
  });

  it('skips the values that a run does not read', () => {
    const dense = `[${'0,'.repeat(2_000_000)}0]`;
    const payload = `{"id":1,"inputs":{"dense":${dense},"prompt":"p"},"meta":{"dense":${dense},"judge_prompt":"j"}}`;
    const parts = { payload, answer: null, checker: null, assets: null };
    expect(readItem(parts)).toEqual({ id: 1, inputs: { prompt: 'p' }, meta: { judge_prompt: 'j' } });
  });

  it.each(['messages', 'choices'])('rejects too many values in %s', (key) => {
    const payload = `{"inputs":{"${key}":[${'0,'.repeat(250_000)}0]}}`;
    expect(() => readItem({ payload, answer: null, checker: null, assets: null })).toThrow(
      expect.objectContaining({ code: 'item_too_large' }),
    );
  });
});
