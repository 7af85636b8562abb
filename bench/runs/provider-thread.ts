/** The thread of `slow-provider.ts`: says its port, and each change of the number of requests that wait. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** What the thread says. */
export type ProviderMessage = { readonly port: number } | { readonly model: string; readonly change: 1 | -1 };

const { delayMs } = workerData as { readonly delayMs: number };
const say = (message: ProviderMessage): void => parentPort?.postMessage(message);
const choices = [{ message: { role: 'assistant', content: '42' }, finish_reason: 'stop' }];
const usage = { prompt_tokens: 20, completion_tokens: 1, total_tokens: 21 };
const answer = JSON.stringify({ choices, usage });

const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const { model } = JSON.parse(text) as { readonly model: string };
  say({ model, change: 1 });
  response.once('close', () => say({ model, change: -1 }));
  await sleep(delayMs);
  response.setHeader('content-type', 'application/json').end(answer);
});
server.listen(0, '127.0.0.1', () => say({ port: (server.address() as AddressInfo).port }));
