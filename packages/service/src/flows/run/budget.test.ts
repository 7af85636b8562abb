import { describe, expect, it } from 'vitest';
import { type Provider, type ProviderRequest, RunError, type TokenCounts } from '../../evaluation/index.ts';
import { createBudget } from './budget.ts';

it('spends a limit to its end, whatever sums of fractions are', async () => {
  const before = { spent: 0, asked: 0, askedCost: 0 };
  const budget = createBudget({ maxCost: 0.3, ...before }, { nowMs: () => 0 });
  const usage = { prompt_tokens: 0, completion_tokens: 1_000_000 };
  const provider: Provider = {
    usesMessages: true,
    complete: async () => ({ output: 'yes', usage, finishReason: 'stop', attempts: 1 }),
  };
  const price = { input_per_million: 0, output_per_million: 0.1, currency: 'EUR' };
  const ask = async (): Promise<void> => {
    using item = budget.open();
    await item.charge(provider, price).complete(REQUEST, new AbortController().signal);
  };
  for (let item = 0; item < 3; item += 1) await ask();
  await expect(ask()).rejects.toMatchObject({ code: 'budget_spent' });
});

const PRICE = { input_per_million: 100, output_per_million: 1, currency: 'EUR' };
const REQUEST: ProviderRequest = {
  conversationJson: Buffer.from('{"messages":[{"content":"x","role":"user"}]}'),
};
const signal = new AbortController().signal;

/** The cost of each of some requests, with these tokens in its answers; requests with an error fail. */
async function costs(
  answers: readonly { readonly tokens: readonly TokenCounts[]; readonly fails?: boolean }[],
  facts: Partial<Provider> = {},
  before = { spent: 0, asked: 0, askedCost: 0 },
): Promise<number[]> {
  const budget = createBudget({ maxCost: null, ...before }, { nowMs: () => 0 });
  const left = [...answers];
  const provider: Provider = {
    usesMessages: true,
    ...facts,
    complete: async () => {
      const { tokens = [], fails = false } = left.shift() ?? {};
      if (fails) throw new RunError('provider_unavailable', 'no', { answers: tokens });
      return { output: 'yes', usage: null, finishReason: 'stop', attempts: 1, answers: tokens };
    },
  };
  const found: number[] = [];
  for (const _ of answers) {
    using item = budget.open();
    await item
      .charge(provider, PRICE)
      .complete(REQUEST, signal)
      .catch(() => undefined);
    found.push(item.close());
  }
  return found;
}

describe('an answer', () => {
  const known = { input: 10, output: 2_000 };
  const unknown = { input: null, output: null };
  const exact = 10 * 1e-4 + 2_000 * 1e-6;

  it('is charged, also where its request failed, and with those before it', async () => {
    const [one, failed, three] = await costs([
      { tokens: [known] },
      { tokens: [known], fails: true },
      { tokens: [known, known, known] },
    ]);
    expect(one).toBeCloseTo(exact);
    expect(failed).toBeCloseTo(exact);
    expect(three).toBeCloseTo(3 * exact);
  });

  it('whose tokens cannot be read costs its prompt and the longest output', async () => {
    const [prompt = 0] = await costs([{ tokens: [unknown] }]);
    expect(prompt).toBeGreaterThan(0);
    const [cost] = await costs([{ tokens: [unknown] }], { maxOutputTokens: 500 });
    expect(cost).toBeCloseTo(prompt + 500e-6);
  });

  it('whose tokens cannot be read costs the mean of the outputs, without a longest one', async () => {
    const [prompt = 0] = await costs([{ tokens: [unknown] }]);
    const [, , cost] = await costs([
      { tokens: [{ input: 1, output: 1_000 }] },
      { tokens: [{ input: 1, output: 3_000 }], fails: true },
      { tokens: [unknown], fails: true },
    ]);
    expect(cost).toBeCloseTo(prompt + 2_000e-6);
  });

  it('of a run that goes on costs what its results did', async () => {
    const [cost] = await costs([{ tokens: [unknown] }], {}, { spent: 1, asked: 4, askedCost: 1 });
    expect(cost).toBeCloseTo(0.25);
  });

  it('costs nothing where nobody was asked', async () => {
    expect(await costs([{ tokens: [], fails: true }])).toEqual([0]);
  });
});
