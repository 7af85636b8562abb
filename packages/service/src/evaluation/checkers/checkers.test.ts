import { readdirSync } from 'node:fs';
import type { Item } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunError } from '../run-error.ts';
import type { UnscorableReason } from './checker.ts';
import { CHECKER_DOCS, CHECKERS } from './checkers.ts';

/** Whether runs score an item, leave it unscored, or fail because of its options. */
function statusOf(name: string, item: Item, options: JsonObject): string {
  try {
    return CHECKERS.get(name)?.check({ output: '', item, options }).status ?? 'unknown';
  } catch (error) {
    if (error instanceof RunError) return error.code;
    throw error;
  }
}

/** What plans say of the item. */
function reasonOf(name: string, item: Item, options: JsonObject): UnscorableReason | string | null {
  try {
    return CHECKERS.get(name)?.unscorableReason(item, options, (_, decide) => decide()) ?? null;
  } catch (error) {
    if (error instanceof RunError) return error.code;
    throw error;
  }
}

const answers = fc.oneof(
  ...['', '  ', 'B', 'Paris', '7', '#### 1,000', '1e999999999', '(', '{"a": 1}', '\u0001'].map((one) =>
    fc.constant<JsonValue>(one),
  ),
  fc.constantFrom<JsonValue>(null, 0, 1, 9, true, [], [''], ['A', 'Rome'], ['1', 'x'], [[1]], { label: 'B' }),
  fc.constantFrom<JsonValue>([{ name: 'f', arguments: {} }], [{ name: 'f' }], [{ arguments: {} }], {
    name: 'f',
  }),
  fc.jsonValue({ maxDepth: 3 }).map((one) => one as JsonValue),
);
const choices = fc.constantFrom<JsonValue | undefined>(
  undefined,
  [],
  'Paris',
  ['Paris', 'Rome'],
  [
    { label: '1', text: '4' },
    { label: '2', text: '1' },
  ],
);
const patterns = fc.constantFrom<JsonObject>(
  {},
  { pattern: 'a' },
  { pattern: '(' },
  { pattern: 1 },
  { flags: 'y' },
);

describe('checkers', () => {
  it.each([...CHECKERS.keys()])('%s scores what a plan says that it can score', (name) => {
    const items = fc.record(
      { answer: answers, inputs: choices.map((one) => (one === undefined ? {} : { choices: one })) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(items, patterns, (values, options) => {
        const item = values as Item;
        const [status, reason] = [statusOf(name, item, options), reasonOf(name, item, options)];
        if (status === 'checker_limit') expect(reason).toBe(status);
        else if (name === 'regex' && status === 'checker_invalid') expect(reason).toBe('invalid_pattern');
        else expect(reason === null).toBe(status === 'ok');
      }),
      { numRuns: 500 },
    );
  });

  it('lists what its files declare', async () => {
    const files = readdirSync(new URL('.', import.meta.url)).filter(
      (file) => !/^checkers|\.test\.ts$/.test(file),
    );
    const isDeclaration = (value: unknown): value is { readonly name: string } =>
      isJsonObject(value as JsonValue) && 'passes' in (value as object);
    for (const file of files) {
      const exported = Object.values((await import(new URL(file, import.meta.url).href)) as object).filter(
        isDeclaration,
      );
      for (const { name } of exported) {
        expect(
          CHECKER_DOCS.map((one) => one.name),
          `${file} is declared but has no row in checkers.ts`,
        ).toContain(name);
      }
    }
  });
});
