import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A chat-completions server whose every response takes as long. */
export interface SlowProvider extends AsyncDisposable {
  /** As `base_url` of a run. */
  readonly baseUrl: string;
  /** Requests for a model that wait for their response. */
  readonly waiting: (model: string) => number;
}

/** Starts it on a free port. */
export async function startSlowProvider(delayMs: number): Promise<SlowProvider> {
  const waiting = new Map<string, number>();
  const add = (model: string, count: number): void =>
    void waiting.set(model, (waiting.get(model) ?? 0) + count);
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { model } = JSON.parse(text) as { readonly model: string };
    add(model, 1);
    response.once('close', () => add(model, -1));
    await sleep(delayMs);
    const choices = [{ message: { role: 'assistant', content: '42' }, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 20, completion_tokens: 1, total_tokens: 21 };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices, usage }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    waiting: (model) => waiting.get(model) ?? 0,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
