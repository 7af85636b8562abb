import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ProviderMessage } from './provider-thread.ts';

/** A chat-completions server whose every response takes as long. */
export interface SlowProvider extends AsyncDisposable {
  /** As `base_url` of a run. */
  readonly baseUrl: string;
  /** Requests for a model that wait for their response. */
  readonly waiting: (model: string) => number;
}

/** Starts it on a free port, on a separate thread. */
export async function startSlowProvider(delayMs: number): Promise<SlowProvider> {
  const worker = new Worker(new URL('provider-thread.ts', import.meta.url), { workerData: { delayMs } });
  const [{ port }] = (await once(worker, 'message')) as [{ readonly port: number }];
  const waiting = new Map<string, number>();
  worker.on('message', (message: ProviderMessage) => {
    if ('model' in message) waiting.set(message.model, (waiting.get(message.model) ?? 0) + message.change);
  });
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    waiting: (model) => waiting.get(model) ?? 0,
    [Symbol.asyncDispose]: async () => void (await worker.terminate()),
  };
}
