// Shows the columns and the first rows of a dataset on a hub, with a handful of requests.
import { createHubClient } from '@svc/hub-client';

const hub = createHubClient({ endpoint: process.env['HUB_ENDPOINT'], token: process.env['HUB_TOKEN'] });
const dataset = await hub.openDataset({ path: process.argv[2] ?? 'openai/gsm8k', budgetMs: 30_000 });
const selection = await dataset.select({ split: process.argv[3] });

console.log(dataset.resolvedRevision, selection.numRows, selection.suggestedMapping);
for (const { name, dtype } of selection.features) console.log(`${name}: ${dtype}`);
for await (const { row } of selection.rows({ limit: 3 })) console.log(row);
await hub.close();
