import { setTimeout as sleep } from 'node:timers/promises';

/** Runs a dataset with its prompts as outputs, and waits for the end. */
export async function startEchoRun(url: string, datasetId: string): Promise<string> {
  const response = await fetch(`${url}/runs`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      dataset_id: datasetId,
      config: { provider: { type: 'echo' }, checker: { type: 'includes' }, concurrency: 64 },
    }),
  });
  const { id } = (await response.json()) as { id: string };
  for (;;) {
    const run = (await (await fetch(`${url}/runs/${id}`)).json()) as { status: string };
    if (run.status === 'completed') return id;
    if (run.status === 'failed') throw new Error('the run failed');
    await sleep(200);
  }
}
