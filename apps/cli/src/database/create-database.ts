import type { Store, StoreOptions } from '@svc/service/store';
import { CliError, type DatabasePort, isDatasetId, onlyOne } from 'svc-pkg';

/** Above any limit of the service, so that operators can read whatever it stored. */
const MAX_ITEM_BYTES = 256 * 1024 * 1024;

/**
 * Opens databases. Imports the store only when a command needs it.
 *
 * @param env the environment, for the secrets that no export may contain, and the location of assets
 * @param ownVersion that of this program and its service, which packages name as their writer
 */
export function createDatabase(
  env: Readonly<Record<string, string | undefined>>,
  ownVersion: string,
): DatabasePort {
  return {
    async migrate(url, options) {
      const { migrate } = await storeFor(url);
      return await migrate(url, options).catch(async (error: unknown) => {
        throw await explained(error);
      });
    },

    async openExport(url, { dataset, version: named, runId, allowIncomplete, signal }) {
      const [{ createStore }, { exportPackage }] = await Promise.all([
        storeFor(url),
        import('@svc/service/flows'),
      ]);
      const assetStore = await assetStoreOf(env);
      const store = createStore({ url, assetStore, poolSize: 2, maxItemBytes: MAX_ITEM_BYTES });
      // Node 22 has no AsyncDisposableStack.
      let close = (): Promise<void> => store.close();
      try {
        const found = await findStored(store, dataset);
        const { id: datasetId, version } = await store.datasets.resolve(found, named, signal);
        const open = await store.datasets.open(datasetId, { version, runId, signal });
        close = async () => {
          await open[Symbol.asyncDispose]();
          await store.close();
        };
        const { fileName, bytes } = await exportPackage(open, {
          ...{ runId, allowIncomplete, signal, secrets: secretsOf(env) },
          generator: { name: 'svc', version: ownVersion },
        });
        return {
          ...{ datasetId, fileName, byteLength: null, body: bytes() },
          [Symbol.asyncDispose]: close,
        };
      } catch (error) {
        await close();
        throw await explained(error);
      }
    },
  };
}

/** @throws CliError `usage` for a URL whose parameters cannot be used */
async function storeFor(url: string): Promise<typeof import('@svc/service/store')> {
  const { connectionConfig } = await import('@svc/service/store/postgres');
  try {
    connectionConfig({ url });
  } catch (error) {
    throw new CliError('usage', `The URL of the database ${(error as Error).message}`);
  }
  return await import('@svc/service/store');
}

/** The error of the command line for what a person can repair in a database; any other error as it is. */
async function explained(error: unknown): Promise<unknown> {
  const { operatorMessage, StoreError } = await import('@svc/service/store');
  if (!(error instanceof StoreError) || error.reason === undefined) return error;
  const message = operatorMessage(error);
  switch (error.reason) {
    case 'refused':
      return new CliError(isUnknown(error) ? 'database_not_found' : 'database_refused', message, {
        cause: error,
      });
    case 'tls':
      return new CliError('database_refused', message, { cause: error });
    case 'not_migrated':
      return new CliError('database_not_migrated', message, { cause: error });
    default:
      return new StoreError(error.code, message, { reason: error.reason, cause: error });
  }
}

/** SQLSTATE of a database that the server does not have. */
const UNKNOWN_DATABASE = '3D000';

function isUnknown(error: Error): boolean {
  const { cause } = error as { cause?: { code?: unknown } & Error };
  return cause !== undefined && (cause.code === UNKNOWN_DATABASE || isUnknown(cause));
}

/** Where the service of the database keeps assets, by the service's own variable. */
async function assetStoreOf(
  env: Readonly<Record<string, string | undefined>>,
): Promise<StoreOptions['assetStore']> {
  const text = env['SVC_ASSET_STORE_URL']?.trim() ?? '';
  if (text === '') return null;
  const { parseS3Location } = await import('@svc/service');
  try {
    return parseS3Location(text);
  } catch (error) {
    throw new CliError('usage', `SVC_ASSET_STORE_URL ${(error as Error).message}`);
  }
}

/** The id of the dataset with this id, handle or unique name, in this order. */
async function findStored(store: Store, named: string): Promise<string> {
  if (isDatasetId(named)) return named;
  try {
    return (await store.datasets.resolve(named)).id;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'dataset_not_found') throw error;
  }
  const { data } = await store.datasets.list({ name: named, limit: 100 });
  return onlyOne(
    named,
    data.map(({ id }) => id),
  );
}

/** Variables of the service that are keys. Addresses of providers are none, and the password of a database is no secret of data. */
const SECRET_VARIABLE =
  /^(?:SVC_(?:API_KEYS?|METRICS_KEY|JOB_KEY|PROVIDER_(?!ALLOWED_HOSTS$).+(?<!_ORIGINS))|HUB_TOKEN)$/;

/** The secrets that this process knows: a run's configuration may contain one of them by mistake. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): string[] {
  const values = Object.entries(env).flatMap(([name, value = '']) => {
    if (!SECRET_VARIABLE.test(name)) return [];
    return name === 'SVC_API_KEYS'
      ? value.split(',').map((entry) => entry.split(':')[1]?.trim() ?? '')
      : [value];
  });
  return values.filter((secret) => secret !== '');
}
