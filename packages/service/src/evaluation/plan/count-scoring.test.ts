import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { createCheckRunner } from '../threads/check-runner.ts';
import type { ScoringFacts } from '../threads/plan-task.ts';
import { countScoring } from './count-scoring.ts';

const { signal } = new AbortController();
const FACTS: ScoringFacts = { checker: null, judge: null, prompts: { system: null, template: null } };

async function count(items: readonly JsonObject[], facts: Partial<ScoringFacts> = {}) {
  const batches = (async function* () {
    for (let from = 0; from < items.length; from += 3) {
      yield items.slice(from, from + 3).map(({ answer, checker, ...payload }) => ({
        payload: canonicalJson(payload),
        answer: answer === undefined ? null : canonicalJson(answer),
        checker: checker === undefined ? null : canonicalJson(checker),
        assets: null,
      }));
    }
  })();
  await using checks = createCheckRunner({ threads: 0 });
  const { unscorable, ...counts } = await countScoring(batches, { ...FACTS, ...facts }, checks, signal);
  return { ...counts, unscorable: Object.fromEntries(unscorable) };
}

const inputs = { prompt: 'p' };
const choices = { ...inputs, choices: ['a', 'b'] };

describe('countScoring', () => {
  it('counts items by why they cannot be scored, and by what scores the others', async () => {
    const items = [
      { inputs, type: 'exact', answer: 'x' },
      { inputs, type: 'exact' },
      { inputs, type: 'numeric', answer: 'none' },
      { inputs: choices, type: 'multiple_choice', answer: 'B' },
      { inputs: choices, type: 'multiple_choice', answer: 'C' },
      { inputs, type: 'multiple_choice', answer: 'B' },
      { inputs, answer: 'x' },
      { inputs, answer: 'x', checker: 'judge' },
      { inputs, answer: 'x', checker: 'script' },
      { inputs, checker: { type: 'regex', pattern: '(' } },
      { inputs, checker: { type: 'regex', pattern: '.' } },
      { inputs: {}, type: 'exact', answer: 'x' },
    ];
    const unscorable = {
      ...{ no_answer: 2, unknown_answer: 1, no_choices: 1, no_checker: 1, no_judge: 1, unknown_checker: 1 },
      ...{ invalid_pattern: 1, item_without_prompt: 1 },
    };
    expect(await count(items)).toEqual({ items: 12, scored: 3, judged: 0, fromOne: 0, unscorable });
    const judge = { defaultPrompts: 'Is it right?' };
    expect(await count(items, { judge, prompts: null })).toMatchObject({ scored: 4, judged: 4 });
    const checker = { json: '"includes"', mode: 'override' } as const;
    expect(await count(items, { checker })).toMatchObject({ scored: 8, unscorable: { no_answer: 3 } });
  });

  it.each<[JsonObject, ScoringFacts['prompts'], boolean]>([
    [{ prompt: 'p' }, { system: null, template: null }, true],
    [{ choices: ['a'] }, { system: null, template: null }, true],
    [{ messages: [{ role: 'system', content: 's' }] }, { system: null, template: null }, true],
    [{ messages: [{ role: 'system', content: 's' }] }, { system: 's', template: null }, false],
    [{ system_prompt: 's' }, { system: null, template: null }, false],
    [{}, { system: 's', template: null }, false],
    [{}, { system: null, template: '{meta.question}' }, true],
    [{}, null, true],
  ])('needs something to ask: %j with %j', async (asked, prompts, isAsked) => {
    const { unscorable } = await count([{ inputs: asked, type: 'exact', answer: 'x' }], { prompts });
    expect(unscorable).toEqual(isAsked ? {} : { item_without_prompt: 1 });
  });

  it.each<[string, JsonObject[], number]>([
    ['from 1 to n', [{ answer: 1 }, { answer: '2' }, { answer: [1, 2] }], 3],
    ['without the last', [{ answer: 1 }], 1],
    ['and some without an answer', [{ answer: 2 }, { answer: null }], 1],
    ['from 0', [{ answer: 0 }, { answer: 1 }], 0],
    ['beyond n', [{ answer: 1 }, { answer: 3 }], 0],
    ['and letters', [{ answer: 1 }, { answer: 'A' }], 0],
    ['that are labels', [{ answer: 1, inputs: { ...inputs, choices: [{ label: '1', text: 'a' }] } }], 0],
    ['that are choices', [{ answer: 2, inputs: { ...inputs, choices: [1, 2] } }], 0],
  ])('knows answers that are numbers %s', async (_name, items, fromOne) => {
    const others = [{ inputs, type: 'numeric', answer: 0 }];
    const all = items.map((item) => ({ type: 'multiple_choice', inputs: choices, ...item }));
    expect(await count([...all, ...others])).toMatchObject({ fromOne });
  });

  it('tells checkers apart that have the same pattern', async () => {
    const whole = ['no', true, 'yes', null].map((full_match) => ({
      type: 'regex',
      pattern: '.',
      full_match,
    }));
    const counted = await count(whole.map((checker) => ({ inputs, checker })));
    expect(counted).toMatchObject({ scored: 2, unscorable: { invalid_pattern: 2 } });
  });

  it('counts what exceeds the limits of its checker as scored: its results fail', async () => {
    const many = { ...inputs, choices: Array.from({ length: 1_001 }, (_, at) => `${at}`) };
    expect(await count([{ inputs: many, type: 'multiple_choice', answer: '5' }])).toMatchObject({
      scored: 1,
    });
  });
});
