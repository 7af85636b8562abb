import { type ByteSource, openPackage } from '@svc/pkg-format';
import {
  createThreadReader,
  dryRun,
  filesSource,
  type ImportSource,
  importDataset,
  packageSource,
  type ThreadReader,
} from '@svc/service/flows';
import { createStore, ImportReport, type Store } from '@svc/service/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../packages/service/test/store/template-db.ts';
import { makePackage } from '../../api/test/make-package.ts';

let database: TestDatabase;
let store: Store;
let reader: ThreadReader;
beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url, poolSize: 4 });
  reader = createThreadReader();
});
afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  await store.close();
  await database.drop();
});

const { signal } = new AbortController();
const REQUEST = { name: 'n', description: undefined, mapping: null, mappingAsSent: null, origins: [] };
const options = () => ({ maxLineBytes: 1_000_000, maxDepth: 100, reader });

/** Three million bytes, whose first line is faulty. */
const LINES = Buffer.from(`[]\n${`{"id":"${'x'.repeat(1000)}"}\n`.repeat(3000)}`);

/** Bytes that cannot be read beyond the first million, once they are to fail. */
function failingSource(bytes: Uint8Array, error: Error): ByteSource & { fails: boolean } {
  return {
    byteLength: bytes.byteLength,
    fails: false,
    async read(start, end) {
      if (this.fails && end > 1_000_000) throw error;
      return bytes.slice(start, end);
    },
  };
}

type MakeSource = (error: Error) => Promise<ImportSource>;

const files: MakeSource = async (error) => {
  const source = failingSource(LINES, error);
  source.fails = true;
  const detected = { format: 'jsonl', options: {} } as const;
  return filesSource(
    {
      files: [{ name: 'a.jsonl', source, sha256: '', section: 'default', detected }],
      sentBytes: source.byteLength,
      skipped: { first: [], total: 0 },
    },
    REQUEST,
    options(),
  );
};

const archive: MakeSource = async (error) => {
  const stored = await makePackage({ 'sections/a.jsonl': LINES }, 'STORE');
  const source = failingSource(stored, error);
  const pkg = await openPackage(source);
  source.fails = true;
  const request = { ...REQUEST, fileName: 'a.zip' };
  return packageSource(
    { bytes: source.byteLength, sha256: null },
    () => Promise.resolve(pkg),
    request,
    options(),
  );
};

describe.each([
  ['files', files],
  ['a package', archive],
] as const)('while the rest of %s is checked after a fault', (_, make) => {
  it.each([
    Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' }),
    new TypeError('Cannot read properties of undefined'),
  ])('an error of the disk or of the program is not lost: $message', async (error) => {
    {
      const report = new ImportReport();
      await using draft = await store.datasets.begin({ report });
      await expect(importDataset(await make(error), draft, report, signal)).rejects.toBe(error);
      expect(report.faults.total).toBe(1);
    }
    const report = new ImportReport();
    await using dry = await store.datasets.begin({ report, dryRun: true });
    await expect(dryRun(await make(error), dry, report, signal)).rejects.toBe(error);
  });
});
