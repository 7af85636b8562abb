import { afterAll, beforeAll, expect, it } from 'vitest';
import { openConnection } from '../../../api/test/raw-connection.ts';
import { report, tally } from './report.ts';
import type { ServiceProcess } from './run-service.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask, outcomeOf, type ServiceResponse, storeLarge } from './stored-datasets.ts';

const AREA = 'Attacks';
const KEYS = {
  viewer: 'the-viewer-key-of-the-tests',
  other: 'another-viewer-key-of-the-tests',
  editor: 'the-editor-key-of-the-tests',
} as const;

let own: OwnService;
let service: ServiceProcess;
beforeAll(async () => {
  own = await startService({
    SVC_API_KEYS: `viewer:${KEYS.viewer},viewer:${KEYS.other},editor:${KEYS.editor}`,
    SVC_IMPORT_WAIT_MS: '1000',
    SVC_SLOW_READER_TIMEOUT_MS: '4000',
  });
  service = own.service;
});
afterAll(() => own[Symbol.asyncDispose]());

const as = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}` });
const get = (path: string, key: string): Promise<ServiceResponse> =>
  ask(service.url + path, { headers: as(key) });

it('one client that does not read its exports does not block the exports of others', async (context) => {
  const id = await storeLarge(service.url, as(KEYS.editor));
  using readers = new DisposableStack();
  const path = `/datasets/${id}/items.jsonl`;
  const header = `Authorization: Bearer ${KEYS.viewer}\r\n`;
  const outcomes: string[] = [];
  // four of a client's streams run, the others wait or are refused
  const opening = Array.from({ length: 8 }, async (): Promise<void> => {
    const reader = readers.use(await openConnection(service.url));
    reader.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
    await reader.until(/^HTTP\/1\.1 (?:200 |429 [\s\S]*\}\n?$)/);
    reader.socket.pause();
    outcomes.push(reader.answer().slice(9, 12));
  });
  await expect.poll(() => outcomes.length).toBeGreaterThanOrEqual(4);
  const others = await Promise.all(
    ['/export', '/items.jsonl'].map((part) => get(`/datasets/${id}${part}`, KEYS.other)),
  );
  expect(others.map(({ status }) => status)).toEqual([200, 200]);
  await Promise.all(opening);
  expect(tally(outcomes)['429']).toBeGreaterThanOrEqual(1);
  // and those that take nothing are let go
  const ended = (): number =>
    service.log().filter(({ event, route, status_code }) => {
      return event === 'http.request' && route === '/datasets/:id/items.jsonl' && status_code === 499;
    }).length;
  await expect.poll(ended, { timeout: 60_000 }).toBe(tally(outcomes)['200']);
  report(context, {
    area: AREA,
    scenario: '8 clients with one key do not read their exports, and other clients request one',
    expected:
      'four of them are served, the rest get 429; others are served immediately; clients that do not read are disconnected',
    runs: 8 + others.length,
    observed: { ...tally([...outcomes, ...others.map(outcomeOf)]) },
  });
});
