import { expect, it } from 'vitest';
import { makePackage } from '../../../api/test/make-package.ts';
import { inspectFile } from './inspect-file.ts';

type Found = Extract<Awaited<ReturnType<typeof inspect>>, { readonly state: 'read' }>;

async function inspect(name: string, content: string | Uint8Array<ArrayBuffer>) {
  return (await Array.fromAsync(inspectFile(new File([content], name)))).at(-1);
}

async function placesIn(name: string, content: string | Uint8Array<ArrayBuffer>): Promise<string[]> {
  const { errors, errorsTotal, versionHash } = (await inspect(name, content)) as Found;
  expect([errorsTotal, versionHash]).toEqual([errors.length, null]);
  return errors.map(({ file, line, column }) => `${file}:${line}:${column}`);
}

const GOOD = '{"id":1,"inputs":{"prompt":"One?"}}';

it('lists every faulty line of a file of items', async () => {
  const text = [GOOD, '{"id":2,}', '[3]', '{"id":null,"tags":[4]}', '{"id":5', GOOD].join('\n');
  expect(await placesIn('items.jsonl', text)).toEqual([
    'items.jsonl:2:9',
    'items.jsonl:3:1',
    'items.jsonl:4:7',
    'items.jsonl:4:20',
    'items.jsonl:5:8',
  ]);
});

it('lists every faulty line of a package', async () => {
  const bytes = await makePackage({
    'sections/a.jsonl': `${GOOD}\n{"id":2,}\n[3]`,
    'sections/b.jsonl': '{"id":null}',
  });
  expect(await placesIn('bad.pkg.zip', new Uint8Array(bytes))).toEqual([
    'sections/a.jsonl:2:9',
    'sections/a.jsonl:3:1',
    'sections/b.jsonl:1:7',
  ]);
});

it('lists the first hundred errors, and counts all', async () => {
  const { errors, errorsTotal } = (await inspect('items.jsonl', `${GOOD}\n${'[]\n'.repeat(250)}`)) as Found;
  expect([errors.length, errorsTotal, errors.at(-1)?.line]).toEqual([100, 250, 101]);
});

it('compares what it read of a package with its manifest', async () => {
  const manifest = { format: 'svc-pkg', hash_spec: 'svc-jcs-sha256-1', version_hash: '0'.repeat(64) };
  const bytes = await makePackage({
    'manifest.json': JSON.stringify(manifest),
    'sections/a.jsonl': GOOD,
  });
  const { errors, items } = (await inspect('other.pkg.zip', new Uint8Array(bytes))) as Found;
  expect(items).toBe(1);
  expect(errors.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^The items have the version hash \w+; the manifest states "0+"/),
  ]);
});

it('says of a file that cannot be read why not', async () => {
  const file = new File([GOOD], 'gone.jsonl');
  file.slice = () => {
    throw new Error('The file was moved.');
  };
  const { errors } = (await Array.fromAsync(inspectFile(file))).at(-1) as Found;
  expect(errors).toEqual([{ message: 'The file was moved.' }]);
});
