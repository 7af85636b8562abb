/** The thread of `watchProbe`: asks again and again on one connection, until a message ends it; then reports the times. */
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const INTERVAL_MS = 20;

const { url } = workerData as { readonly url: string };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const times: number[] = [];
let isEnding = false;
parentPort?.once('message', () => {
  isEnding = true;
});
const ask = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = get(url, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
      response.resume().once('end', resolve);
    });
    request.once('error', reject);
  });
await ask();
while (!isEnding) {
  await sleep(INTERVAL_MS);
  const startedAt = performance.now();
  await ask();
  times.push(performance.now() - startedAt);
}
parentPort?.postMessage(times);
agent.destroy();
