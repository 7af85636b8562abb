import { expect, it } from 'vitest';
import { importStreamsFor } from './import-streams.ts';
import { loadConfig } from './load-config.ts';

it.each<[string | undefined, number, number]>([
  [undefined, 2, 1],
  [undefined, 4, 1],
  [undefined, 8, 2],
  [undefined, 64, 4],
  ['postgresql://svc@localhost/svc', 2, 1],
  ['postgresql://svc@127.0.0.1:5433/svc', 8, 2],
  ['postgresql://svc@[::1]/svc', 2, 1],
  ['postgresql:///svc', 2, 1],
  ['postgresql://svc@%2Fvar%2Frun%2Fpostgresql/svc', 2, 1],
  ['postgresql:///svc?host=/var/run/postgresql', 2, 1],
  ['postgresql://svc@db.example/svc', 1, 1],
  ['postgresql://svc@db.example/svc', 2, 2],
  ['postgresql://svc@10.0.0.5:5432/svc', 16, 4],
])('an import into %s from %d cores has %d streams', (url, cores, streams) => {
  expect(importStreamsFor(url, cores)).toBe(streams);
});

it('has as many as configured', () => {
  expect(loadConfig({ SVC_IMPORT_STREAMS: '3' }).importStreams).toBe(3);
  expect(loadConfig({}).importStreams).toBeGreaterThanOrEqual(1);
});
