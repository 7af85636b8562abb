// Changes datasets until it is killed: arguments are the URL of a database and the name of who does it.

import { actAs } from '../../src/store/audit/actor.ts';
import { createStore } from '../../src/store/create-store.ts';
import { importItems } from './import-items.ts';

const [url = '', name = ''] = process.argv.slice(2);
const store = createStore({ url, poolSize: 4 });

async function change(): Promise<never> {
  for (;;) {
    const { id } = await importItems(store.datasets, { s: ['{"inputs":{"prompt":"What?"}}'] }, { name });
    for (let notes = 1; notes <= 3; notes += 1) await store.datasets.update(id, { notes: `${notes}` });
    if (Math.random() < 0.3) await store.datasets.delete(id);
  }
}

await Promise.all(
  Array.from({ length: 3 }, () => actAs({ name, role: 'admin', requestId: null, handles: null }, change)),
);
