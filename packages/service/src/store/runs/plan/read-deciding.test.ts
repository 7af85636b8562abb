import type { ItemParts } from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { expect, it, onTestFinished } from 'vitest';
import { importItems } from '../../../../test/store/import-items.ts';
import { createTestDatabase } from '../../../../test/store/template-db.ts';
import { countScoring, createCheckRunner, type ScoringFacts } from '../../../evaluation/index.ts';
import { createStore } from '../../create-store.ts';

const PROMPT = { prompt: 'p' };
const CHOICES = ['red', 'gr\u0000een', { label: 'C', text: 'blue' }];

const items: readonly JsonObject[] = [
  ...[null, '', 'red', 'A', 2, ['A', 'red'], ['A', 'pink'], 'gr\u0000een', { label: 'C' }].map((answer) => ({
    ...{ type: 'multiple_choice', answer, inputs: { ...PROMPT, choices: CHOICES } },
  })),
  { type: 'multiple_choice', answer: 'A', inputs: { ...PROMPT, choices: [] }, criteria: ['kind'] },
  ...[5, '#### 7', 'none', [], 'x'.repeat(20_000)].map((answer) => ({
    type: 'numeric',
    answer,
    inputs: PROMPT,
  })),
  ...['exact_match', ' includes ', 'tool_calls', 'judge', 'toString', 'script', '', null].map((checker) => ({
    ...{ answer: 'x', checker, inputs: PROMPT },
  })),
  ...[{ pattern: '(' }, { pattern: '\u0000' }, { pattern: 5 }, {}].map((options) => ({
    ...{ checker: { type: 'regex', ...options }, inputs: PROMPT },
  })),
  { checker: { path: 'a.py' }, type: 'exact', answer: 'x', inputs: PROMPT },
  { answer: 'x', criteria: ['kind'], inputs: PROMPT },
  { answer: 'x', meta: { judge_prompt: 'Is it \ud800?' }, inputs: PROMPT },
  { answer: 'x', meta: { judge_prompt: ' ' }, inputs: PROMPT },
  { type: 'long\u0000', answer: 'y'.repeat(100_000), checker: 'exact_match', inputs: PROMPT },
  ...[
    {},
    { prompt: '' },
    { messages: [] },
    { messages: [{ role: 'user', content: 'p' }] },
    { messages: [{ role: 'system', content: 's' }] },
    {
      messages: [
        { role: 'developer', content: 's' },
        { role: 'tool', content: null },
      ],
    },
    { choices: ['a'] },
    { system_prompt: 's' },
  ].map((inputs) => ({ type: 'exact', answer: 'x', inputs: inputs as JsonObject })),
  {
    type: 'exact',
    answer: 'x',
    inputs: {},
    assets: { 'a.png': { url: 'https://host/a.png', mime_type: 'image/png' } },
  },
];

/** The parts of a whole item, as a worker reads them. */
function wholeOf({ answer, checker, assets, ...payload }: JsonObject): ItemParts {
  const text = (value: JsonValue | undefined): string | null =>
    value === undefined ? null : canonicalJson(value);
  return {
    payload: canonicalJson(payload),
    answer: text(answer),
    checker: text(checker),
    assets: text(assets),
  };
}

it('reads what decides of each item, so that it decides as the whole item does', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  await using store = createStore({ url: database.url });
  await using checks = createCheckRunner({ threads: 0 });
  const { id: datasetId } = await importItems(store.datasets, {
    test: items.map((item) => canonicalJson(item)),
  });
  const { signal } = new AbortController();
  const request = { datasetId, version: 1, selection: null, signal };
  const read = (await Array.fromAsync(store.runs.readDeciding(request))).flat();
  expect(read).toHaveLength(items.length);
  for (const { payload } of read) expect(JSON.parse(payload).inputs.prompt ?? '').toBe('');

  const judge = { defaultPrompts: { exact: 'Is it right?' } };
  const system = { system: 's', template: null };
  const scorings: readonly ScoringFacts[] = [
    { checker: null, judge: null, prompts: null },
    { checker: { json: '{"pattern":"a","type":"regex"}', mode: 'default' }, judge, prompts: null },
    { checker: { json: '"choice"', mode: 'override' }, judge: null, prompts: { ...system, system: null } },
    { checker: null, judge, prompts: system },
    { checker: null, judge, prompts: { ...system, template: '{meta.a}' } },
  ];
  /** How each of some items is scored, without their order: long ones come after the others. */
  const decide = async (parts: readonly ItemParts[], facts: ScoringFacts): Promise<string[]> => {
    const decided = parts.map(async (one) => {
      const batch = (async function* () {
        yield [one];
      })();
      const { scored, judged, unscorable } = await countScoring(batch, facts, checks, signal);
      return `${one.answer?.slice(0, 20)} ${one.checker}: ${scored} ${judged} ${[...unscorable.keys()]}`;
    });
    return (await Promise.all(decided)).sort();
  };
  for (const facts of scorings) {
    expect(await decide(read, facts)).toEqual(await decide(items.map(wholeOf), facts));
  }
});
