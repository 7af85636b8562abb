import { Agent, get } from 'node:http';

/**
 * A separate process that requests a path at even intervals, independent of earlier requests, so that neither a
 * slow answer nor the load that a test makes delays the next question. Prints the times as JSON when its input ends.
 *
 * Usage: node probe-health.ts <url of the path> <interval in milliseconds>
 */
const [url = '', intervalMs = '50'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const latenciesMs: number[] = [];
const pending = new Set<Promise<void>>();
const MAX_MS = 20_000;

function probe(startedAt = performance.now()): Promise<void> {
  return new Promise((resolve) => {
    const finish = (isResponded: boolean) => (): void => {
      latenciesMs.push(isResponded ? performance.now() - startedAt : MAX_MS);
      resolve();
    };
    const request = get(url, { agent, timeout: MAX_MS }, (response) => {
      response.resume().once('end', finish(response.statusCode === 200));
    })
      .once('timeout', () => request.destroy())
      .once('error', (error: NodeJS.ErrnoException) => {
        // the server closed an idle connection just when it was used again
        if (request.reusedSocket && error.code === 'ECONNRESET' && performance.now() - startedAt < MAX_MS)
          resolve(probe(startedAt));
        else finish(false)();
      });
  });
}

const timer = setInterval(() => {
  const one = probe().finally(() => pending.delete(one));
  pending.add(one);
}, Number(intervalMs));
process.stdin.resume().once('end', async () => {
  clearInterval(timer);
  await Promise.all(pending);
  process.stdout.write(JSON.stringify(latenciesMs));
  agent.destroy();
});
