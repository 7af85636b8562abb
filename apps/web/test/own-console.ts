import { type FakeHub, startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { startService } from '../../standalone/test/faults/start-service.ts';
import { type FakeProvider, type Reply, startFakeProvider } from '../../worker/test/fake-provider.ts';
import { type ConsoleBrowser, startConsoleBrowser } from './console-browser.ts';

/** A separate console: a service on an empty folder with a hub, a provider and a browser. */
export interface OwnConsole extends AsyncDisposable {
  readonly url: string;
  readonly browser: ConsoleBrowser;
  readonly hub: FakeHub;
  readonly provider: FakeProvider;
  /** Calls the API past the browser, with the key of an admin. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** @returns the id of the dataset */
  upload(items: readonly object[], name: string): Promise<string>;
  /** Starts a run and waits for its end. @returns its id */
  run(datasetId: string, config: object, name?: string): Promise<string>;
}

export const KEYS = {
  viewer: 'viewer-key-of-the-tests',
  editor: 'editor-key-of-the-tests',
  admin: 'admin-key-of-the-tests',
} as const;

/**
 * Starts a console.
 *
 * @param reply of the provider
 */
export async function startConsole({
  hasKeys = false,
  reply = () => ({ text: '' }),
}: {
  readonly hasKeys?: boolean;
  readonly reply?: (prompt: string, attempt: number) => Reply;
}): Promise<OwnConsole> {
  const cleanUp = new AsyncDisposableStack();
  const hub = await startFakeHub();
  cleanUp.defer(() => hub.close());
  const provider = cleanUp.use(await startFakeProvider(reply));
  const keys = Object.entries(KEYS).map(([role, key]) => `${role}:${key}`);
  const own = cleanUp.use(
    await startService(
      { HUB_ENDPOINT: hub.endpoint, ...(hasKeys ? { SVC_API_KEYS: keys.join(',') } : {}) },
      'standalone',
    ),
  );
  const { url } = own.service;
  const browser = cleanUp.use(await startConsoleBrowser(url));
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const isForm = body instanceof FormData;
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(hasKeys ? { Authorization: `Bearer ${KEYS.admin}` } : {}),
        ...(isForm || body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (response.status === 204 ? undefined : await response.json()) as T;
  };
  return {
    url,
    browser,
    hub,
    provider,
    call,
    upload: async (items, name) => {
      const lines = items.map((item) => JSON.stringify(item)).join('\n');
      const form = uploadForm(await makePackage({ 'sections/all.jsonl': lines }), { name });
      return (await call<{ id: string }>('POST', '/datasets/upload', form)).id;
    },
    run: async (datasetId, config, name) => {
      const { id } = await call<{ id: string }>('POST', '/runs', { dataset_id: datasetId, config, name });
      const followed = await fetch(`${url}/runs/${id}/events`, {
        headers: hasKeys ? { Authorization: `Bearer ${KEYS.admin}` } : {},
      });
      // the stream ends with the run
      await followed.text();
      return id;
    },
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}
