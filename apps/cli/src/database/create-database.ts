import type { Store } from '@svc/store';
import { isDatasetId, onlyOne } from '../service/find-dataset.ts';
import type { DatabasePort } from './database-port.ts';

/** An operator's own tool reads what any limit of the service may have let in. */
const MAX_ITEM_BYTES = 256 * 1024 * 1024;

/**
 * The database behind the port. What it needs is loaded when a command needs it, which few do.
 *
 * @param env where the secrets that no export may hold are looked for
 */
export function createDatabase(env: Readonly<Record<string, string | undefined>>): DatabasePort {
  return {
    async migrate(url) {
      const { migrate } = await import('@svc/store');
      return migrate(url);
    },

    async openExport(url, { dataset, runId, signal }) {
      const [{ createStore }, { exportPackage }] = await Promise.all([
        import('@svc/store'),
        import('@svc/flows'),
      ]);
      const store = createStore({ url, poolSize: 2, maxItemBytes: MAX_ITEM_BYTES });
      try {
        const datasetId = await findStored(store, dataset);
        const open = await store.datasets.open(datasetId, { signal });
        try {
          const found = await exportPackage(open, { runId, signal, secrets: secretsOf(url, env) });
          return {
            datasetId,
            fileName: found.fileName,
            byteLength: null,
            body: found.bytes(),
            async [Symbol.asyncDispose]() {
              await open[Symbol.asyncDispose]();
              await store.close();
            },
          };
        } catch (error) {
          await open[Symbol.asyncDispose]();
          throw error;
        }
      } catch (error) {
        await store.close();
        throw error;
      }
    },
  };
}

async function findStored(store: Store, idOrName: string): Promise<string> {
  if (isDatasetId(idOrName)) return idOrName;
  const { data } = await store.datasets.list({ name: idOrName, limit: 100 });
  return onlyOne(
    idOrName,
    data.map(({ id }) => id),
  );
}

/** Variables of the service that hold secrets. */
const SECRET_VARIABLE = /^(?:SVC_(?:API_KEYS?|METRICS_KEY|JOB_KEY|PROVIDER_.+)|HUB_TOKEN)$/;

/** The secrets that this process knows: a run's configuration may hold one of them by mistake. */
export function secretsOf(url: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const password = URL.parse(url)?.password ?? '';
  const values = Object.entries(env).flatMap(([name, value = '']) => {
    if (!SECRET_VARIABLE.test(name)) return [];
    return name === 'SVC_API_KEYS'
      ? value.split(',').map((entry) => entry.slice(entry.indexOf(':') + 1).trim())
      : [value];
  });
  return [url, password, decoded(password), ...values].filter((secret) => secret !== '');
}

/** As the server knows it; what is no percent-encoding is the password itself. */
function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return '';
  }
}
