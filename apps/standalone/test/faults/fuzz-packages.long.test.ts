import fc from 'fast-check';
import JSZip from 'jszip';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildZip, type ZipEntrySpec } from '../../../../packages/pkg-format/test/build-zip.ts';
import { times } from '../../../../tools/vitest/long.ts';
import { mutate, mutations } from './mutate-bytes.ts';
import { report, tally } from './report.ts';
import type { ServiceProcess } from './run-service.ts';
import { type OwnService, startService } from './start-service.ts';
import {
  ask,
  LEFTOVERS,
  listDatasets,
  NO_LEFTOVERS,
  outcomeOf,
  type ServiceResponse,
} from './stored-datasets.ts';

let own: OwnService;
let api: ServiceProcess;
beforeAll(async () => {
  // small limits, so that they are met
  own = await startService({
    SVC_MAX_UPLOAD_BYTES: '100000',
    SVC_MAX_ARCHIVE_ENTRIES: '20',
    SVC_MAX_UNCOMPRESSED_BYTES: '2000000',
    SVC_MAX_LINE_BYTES: '20000',
    SVC_MAX_ASSET_BYTES: '20000',
  });
  api = own.service;
});
afterAll(() => own[Symbol.asyncDispose]());

/** `npm test` runs files side by side on the same cores. */
const HANG_MS = times(5_000, 30_000);

const LINES = [
  '{"id":1,"type":"exact","inputs":{"prompt":"one","choices":["a","b"]},"answer":9007199254740993}',
  '{"id":"é","inputs":{"messages":[{"role":"user","content":"hi"}],"system_prompt":"s"},"meta":{"n":0.1,"m":[1,{"a":null}]}}',
  '{"id":3,"assets":{"fig":"assets/a.png","x":{"mime_type":"text/plain","encoding":"base64","data":"eHg="}},"checker":{"type":"regex","path":"checkers/c.py"}}',
  '{"criteria":["a","b"],"inputs":{"prompt":"two"},"tags":[true,false,null,-0,1e21,1E-7]}',
];
const MANIFEST =
  '{"name":"A package","sections":[{"name":"first","file":"sections/a.jsonl"}],"version_hash":"x"}';
const META =
  '{"description":"d","notes":"n","schema":{"source":"pkg_zip","package":{"manifest":{},"meta":null}}}';
const FILES: readonly ZipEntrySpec[] = [
  { name: 'manifest.json', content: MANIFEST },
  { name: 'meta.json', content: META },
  { name: 'sections/a.jsonl', content: `${LINES.slice(0, 3).join('\n')}\n` },
  { name: 'sections/b.jsonl', content: `\ufeff${LINES[3]}\r\n\r\n{}` },
  { name: 'assets/a.png', content: '\x89PNG\r\n', method: 'stored' },
  { name: 'checkers/c.py', content: 'print(1)' },
];

/** Good packages of every make. */
async function goodPackages(): Promise<Uint8Array[]> {
  const plain = buildZip({ entries: [...FILES] });
  const rich = buildZip({
    zip64: true,
    comment: 'a comment',
    entries: FILES.map((entry, index) => ({
      ...entry,
      zip64: index % 2 === 0,
      ...(index % 3 === 0 ? { descriptor: 'signed' as const } : {}),
    })),
  });
  const folder = new JSZip();
  for (const { name, content } of FILES) folder.file(`top/${name}`, content as string);
  const other = await folder.generateAsync({ type: 'uint8array', compression: 'DEFLATE' });
  // one that the service wrote itself, with checksums and hashes that hold
  const { body } = await upload(plain as Uint8Array<ArrayBuffer>);
  const exported = await (await fetch(`${api.url}/datasets/${body.id}/export`)).bytes();
  return [plain, rich, other, exported];
}

function upload(archive: Uint8Array<ArrayBuffer>): Promise<ServiceResponse> {
  const form = new FormData();
  form.append('file', new Blob([archive]), 'x.pkg.zip');
  return ask(`${api.url}/datasets/upload`, {
    method: 'POST',
    body: form,
    signal: AbortSignal.timeout(HANG_MS),
  });
}

/** Words that a reader of archives or of their files looks for. */
const WORDS = [
  'PK\x03\x04',
  'PK\x01\x02',
  'PK\x05\x06',
  'PK\x06\x06',
  'PK\x07\x08',
  '\xff\xff\xff\xff',
  '\x00\x00',
  '../',
  '\n',
  '"',
  '{',
  '[[[[',
  '\\u0000',
  '\\ud800',
  '__proto__',
  'assets/',
  '1e999999',
  '-',
  ':null',
  '\xff',
  '\xef\xbb\xbf',
];

/** Asks for as many uploads as `cases` gives, and expects of each that it is stored whole or refused in order. */
async function fuzz(
  cases: fc.Arbitrary<Uint8Array<ArrayBuffer>>,
  count: number,
  seed: number,
): Promise<Record<string, number>> {
  const outcomes: string[] = [];
  const before = (await listDatasets(api.url)).length;
  await fc.assert(
    fc.asyncProperty(cases, async (archive) => {
      const answer = await upload(archive);
      outcomes.push(outcomeOf(answer));
      if (answer.status === 201) return void (await expectReadable(answer));
      expect([400, 413]).toContain(answer.status);
      expect(answer.code).toMatch(
        /^(?:package_\w+|invalid_request|upload_too_large|unsupported_file|mapping_required|invalid_row|invalid_json)$/,
      );
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
    }),
    { numRuns: count, seed, endOnFailure: true },
  );
  // each that was stored went round through its export
  const stored = outcomes.filter((outcome) => outcome === '201').length;
  expect((await listDatasets(api.url)).length - before).toBe(stored * 2);
  expect(await own.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);
  await expect.poll(() => api.stagedFiles()).toEqual([]);
  expect(api.log().filter(({ event }) => event === 'error.internal')).toEqual([]);
  return tally(outcomes);
}

/** What was accepted can be read in every way, and goes round through an export unchanged. */
async function expectReadable({ body }: ServiceResponse): Promise<void> {
  const dataset = `${api.url}/datasets/${body.id}`;
  for (const path of ['', '/sections', '/items', '/items.jsonl']) {
    expect([path, (await ask(dataset + path)).status]).toEqual([path, 200]);
  }
  const archive = await fetch(`${dataset}/export`);
  expect(archive.status).toBe(200);
  const again = await upload(new Uint8Array(await archive.arrayBuffer()));
  expect([outcomeOf(again), again.body.version_hash]).toEqual(['201', body.version_hash]);
}

/** Items of any JSON at all, with the keys that mean something. */
const anyItem = fc
  .dictionary(
    fc.oneof(
      fc.constantFrom('id', 'type', 'inputs', 'answer', 'criteria', 'meta', 'assets', 'checker', 'tags'),
      fc.string({ maxLength: 6 }),
    ),
    fc.oneof(
      fc.json({ maxDepth: 5 }),
      fc.constantFrom(
        '-0',
        '1e21',
        '1E-7',
        '123456789012345678901234567890.5',
        '1e400',
        '"\\u0000\\ud800"',
        '{"prompt":"p","messages":[]}',
        '{"prompt":7}',
        '["assets/a.png"]',
        '{"x":{"url":"https://h/x"}}',
        '{"type":"regex","pattern":"(a+)+$"}',
      ),
    ),
    { maxKeys: 6 },
  )
  .map((members) => {
    const texts = Object.entries(members).map(([key, value]) => `${JSON.stringify(key)}:${value}`);
    return `{${texts.join(',')}}`;
  });

describe('mutated packages', () => {
  it('byte by byte: stored or refused, never a fault', async (context) => {
    const packages = await goodPackages();
    const cases = fc
      .record({ which: fc.nat(packages.length - 1), changes: mutations(WORDS) })
      .map(({ which, changes }) => mutate(packages[which] as Uint8Array, changes));
    const found = await fuzz(cases, times(8000, 400), 20_240_501);
    expect(Object.keys(found).length).toBeGreaterThan(4);
    report(context, {
      area: 'Random input',
      scenario: 'valid packages of four kinds with random bytes changed, removed, copied or added',
      expected: '201 or an error of the package; never a 500, a crash, a hang over 5 s or a leftover row',
      runs: Object.values(found).reduce((sum, count) => sum + count, 0),
      observed: found,
    });
  }, 600_000);

  it('inside their files, in archives that are in order', async (context) => {
    const cases = fc
      .record({ which: fc.nat(FILES.length - 1), inName: fc.nat(9), changes: mutations(WORDS) })
      .map(({ which, inName, changes }) => {
        const entries = FILES.map((entry, index) => {
          if (index !== which) return entry;
          return inName === 0
            ? { ...entry, name: mutate(Buffer.from(entry.name as string), changes) }
            : { ...entry, content: mutate(Buffer.from(entry.content as string), changes) };
        });
        return buildZip({ entries }) as Uint8Array<ArrayBuffer>;
      });
    const found = await fuzz(cases, times(8000, 400), 20_240_502);
    expect(Object.keys(found).length).toBeGreaterThan(4);
    report(context, {
      area: 'Random input',
      scenario: 'valid archives with random bytes changed inside a file or its name',
      expected: '201 or an error of the package; never a 500, a crash, a hang over 5 s or a leftover row',
      runs: Object.values(found).reduce((sum, count) => sum + count, 0),
      observed: found,
    });
  }, 600_000);

  it('of items that are any JSON', async (context) => {
    const cases = fc.array(anyItem, { maxLength: 4 }).map(
      (items) =>
        buildZip({
          entries: [
            { name: 'sections/a.jsonl', content: items.join('\n') },
            { name: 'assets/a.png', content: 'x' },
          ],
        }) as Uint8Array<ArrayBuffer>,
    );
    const found = await fuzz(cases, times(1500, 150), 20_240_503);
    expect(found['201']).toBeGreaterThan(10);
    report(context, {
      area: 'Random input',
      scenario: 'packages of items with arbitrary JSON under the known keys',
      expected:
        '201 or an error of the package; stored datasets can be read in every way, and their exports have the same hash',
      runs: Object.values(found).reduce((sum, count) => sum + count, 0),
      observed: found,
    });
  }, 600_000);
});
