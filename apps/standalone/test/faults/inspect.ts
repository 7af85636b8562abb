import type { ServiceProcess } from './run-service.ts';

/** Arguments of a process that {@link inspect} can look into. */
export const INSPECT: readonly string[] = ['--inspect=127.0.0.1:0'];

/** A connection to the inspector of a process. */
export interface Inspector extends Disposable {
  // biome-ignore lint/suspicious/noExplicitAny: results of the inspector have every shape
  call(method: string, params?: object): Promise<any>;
}

export async function inspect(service: ServiceProcess): Promise<Inspector> {
  const address = /ws:\/\/127\.0\.0\.1:\d+\/\S+/.exec(service.stderr())?.[0];
  if (address === undefined) throw new Error('the process was not started with INSPECT');
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  let lastId = 0;
  return {
    call: (method, params = {}) =>
      new Promise((resolve) => {
        const id = ++lastId;
        const listener = ({ data }: MessageEvent): void => {
          const message = JSON.parse(String(data));
          if (message.id !== id) return;
          socket.removeEventListener('message', listener);
          resolve(message.result);
        };
        socket.addEventListener('message', listener);
        socket.send(JSON.stringify({ id, method, params }));
      }),
    [Symbol.dispose]: () => socket.close(),
  };
}

/** Bytes that a process holds after garbage collection, on the heap and outside it. */
export async function liveMemoryOf(service: ServiceProcess): Promise<number> {
  using inspector = await inspect(service);
  // Buffers are freed when what refers to them has been.
  for (let round = 0; round < 3; round++) await inspector.call('HeapProfiler.collectGarbage');
  const { result } = await inspector.call('Runtime.evaluate', {
    expression: 'const { heapUsed, external } = process.memoryUsage(); heapUsed + external',
    returnByValue: true,
    replMode: true,
  });
  return result.value as number;
}
