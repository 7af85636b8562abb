import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../test/fake-hub.ts';
import { readValue, testRequester } from '../test/requester.ts';
import { type FetchFunction, fetchTransport } from './http/transport.ts';
import { openTransport } from './platform-browser.ts';
import { HubFile } from './repository/open-file.ts';

const text = 'a line of text\n'.repeat(50_000);

let hub: FakeHub;
beforeEach(async () => {
  hub = await startFakeHub({
    id: 'o/d',
    files: { 'a.parquet': text },
    access: 'private',
    readers: ['hf_reader'],
  });
});
afterEach(() => hub.close());

/** Does what a browser's fetch does: it hides where a redirect leads if it must not follow it. */
const browserFetch: FetchFunction = async (url, init) => {
  const response = await fetch(url, init);
  if (init.redirect === 'follow' || response.status < 300 || response.status >= 400) return response;
  await response.body?.cancel();
  return {
    type: 'opaqueredirect',
    status: 0,
    headers: new Headers(),
    url: '',
    body: null,
  } as unknown as Response;
};

it('where redirects cannot be followed by hand the runtime follows them, and its fetch keeps the token back', async () => {
  const { requester } = testRequester(
    hub.endpoint,
    { transport: fetchTransport(browserFetch) },
    { token: 'hf_reader' },
  );
  const commit = hub.commitOf('o/d');
  const file = new HubFile(requester, {
    dataset: 'o/d',
    commit,
    path: 'a.parquet',
    byteLength: text.length,
    sha256: null,
  });
  for (const start of [0, 15, 300_000]) {
    expect(new TextDecoder().decode(await file.readRange(start, start + 14))).toBe('a line of text');
  }
  const storage = hub.requests.filter(({ origin }) => origin === 'storage');
  expect(storage.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, undefined]);
  // The first request gives an opaque redirect; later reads go to the storage directly.
  expect(hub.requests.map(({ origin }) => origin)).toEqual(['hub', 'hub', 'storage', 'storage', 'storage']);
});

it('its own transport sends and reads', async () => {
  const transport = openTransport();
  const { requester, context } = testRequester(
    hub.endpoint,
    { transport: transport.send },
    { token: 'hf_reader' },
  );
  const url = new URL(`${hub.endpoint}/api/datasets/o/d`);
  expect(await readValue(requester, { kind: 'info', url }, context)).toMatchObject({
    id: 'o/d',
  });
  await transport.close();
});
