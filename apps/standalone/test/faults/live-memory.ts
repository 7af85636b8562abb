import type { ServiceProcess } from './run-service.ts';

/** What a process is started with so that {@link liveMemoryOf} can look into it. */
export const INSPECT: readonly string[] = ['--inspect=127.0.0.1:0'];

/** Bytes that a process holds after garbage collection, on the heap and outside it. */
export async function liveMemoryOf(service: ServiceProcess): Promise<number> {
  const address = /ws:\/\/127\.0\.0\.1:\d+\/\S+/.exec(service.stderr())?.[0];
  if (address === undefined) throw new Error('the process was not started with INSPECT');
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  let lastId = 0;
  // biome-ignore lint/suspicious/noExplicitAny: answers of the inspector have every shape
  const call = (method: string, params: object = {}): Promise<any> =>
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
    });
  try {
    // Buffers are freed when what refers to them has been.
    for (let round = 0; round < 3; round++) await call('HeapProfiler.collectGarbage');
    const { result } = await call('Runtime.evaluate', {
      expression: 'const { heapUsed, external } = process.memoryUsage(); heapUsed + external',
      returnByValue: true,
      replMode: true,
    });
    return result.value as number;
  } finally {
    socket.close();
  }
}
