// Uploads a table to a service, runs it, and prints the score: node run-a-dataset.mjs questions.csv
import { openAsBlob } from 'node:fs';
import { createApiClient, followRun, startRun, uploadDataset } from '@svc/client';

const { SVC_API_URL: baseUrl = 'http://127.0.0.1:8080', SVC_API_KEY: key } = process.env;
const [path = 'questions.csv'] = process.argv.slice(2);
const file = new File([await openAsBlob(path)], 'questions.csv');
const mapping = JSON.stringify({ prompt_column: 'question', answer_column: 'answer', default_type: 'exact' });
const { id } = await uploadDataset(file, { baseUrl, key, fields: { name: 'Questions', mapping } });

const client = createApiClient({ baseUrl, key });
const run = await startRun(client, { dataset_id: id, config: { provider: { type: 'echo' } } });
for await (const { status, counts, scores } of followRun(client, run.id)) {
  if (status === 'completed') console.log(`${counts.done} done, mean ${scores.mean}`);
}
