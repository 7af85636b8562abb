import type { Provider, ProviderRequest } from '@svc/evaluation';
import { parseItem } from '@svc/jsonl-v23';
import { expect, it } from 'vitest';
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
  const request: ProviderRequest = { item: parseItem({}), messages: [{ role: 'user', content: 'x' }] };
  const ask = async (): Promise<void> => {
    using item = budget.open();
    await item.charge(provider, price).complete(request, new AbortController().signal);
  };
  for (let item = 0; item < 3; item += 1) await ask();
  await expect(ask()).rejects.toMatchObject({ code: 'budget_spent' });
});
