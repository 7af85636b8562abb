import { expect, it } from 'vitest';
import { svcPkg } from './run-svc-pkg.ts';
import { writeArchive } from './temporary-folder.ts';

const FILES = {
  'manifest.json': '{"name":"My set","generator":"other","generator_version":"1.0","n":12345678901234567890}',
  'meta.json': '{"description":"A description"}',
  'sections/b.jsonl': '{"id":1,"type":"exact"}\n{"id":12345678901234567890,"inputs":{"prompt":"p"}}\n',
  'sections/a.jsonl': '{"assets":{"x":"assets/x.txt"},"id":"a1"}\n',
  'assets/x.txt': 'hello',
  'notes.txt': '',
};

it('shows the contents of a package', async () => {
  const path = await writeArchive(FILES);
  const hash = (await svcPkg(['hash', path])).stdout.trim();
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  const { exitCode, stdout, stderr } = await svcPkg(['inspect', path, '--samples', '2']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toBe(
    [
      `package       ${path}`,
      'name          My set',
      'description   A description',
      'written by    other 1.0',
      `version hash  ${hash}`,
      'items         3 in 2 sections',
      'assets        1',
      'types         2 freeform, 1 exact',
      'ignored       notes.txt',
      '',
      'sections',
      '  a  1 item',
      '  b  2 items',
      '',
      'first items',
      '  a 0',
      '    {',
      '      "assets": {',
      '        "x": {',
      '          "path": "assets/x.txt"',
      '        }',
      '      },',
      '      "id": "a1"',
      '    }',
      '  b 0',
      '    {',
      '      "id": 1,',
      '      "type": "exact"',
      '    }',
      '',
    ].join('\n'),
  );
});

it('prints the same as JSON, with every digit', async () => {
  const path = await writeArchive(FILES);
  const { stdout } = await svcPkg(['inspect', path, '--json']);
  const document = JSON.parse(stdout);
  expect(document).toMatchObject({
    package: path,
    hash_spec: 'svc-jcs-sha256-1',
    item_count: 3,
    section_count: 2,
    sections: [
      {
        name: 'a',
        file: 'sections/a.jsonl',
        order_index: 0,
        item_count: 1,
        section_hash: expect.any(String),
      },
      {
        name: 'b',
        file: 'sections/b.jsonl',
        order_index: 1,
        item_count: 2,
        section_hash: expect.any(String),
      },
    ],
    name: 'My set',
    description: 'A description',
    asset_count: 1,
    types: { freeform: 2, exact: 1 },
    ignored_entries: ['notes.txt'],
    samples: [
      { section: 'a', order_index: 0, item: { assets: { x: { path: 'assets/x.txt' } }, id: 'a1' } },
      { section: 'b', order_index: 0 },
      { section: 'b', order_index: 1 },
    ],
  });
  expect(stdout).toContain('"id":12345678901234567890');
  expect(stdout).toContain('"n":12345678901234567890');
});

it('cuts long values for people only', async () => {
  const item = JSON.stringify({
    id: 'x'.repeat(1000),
    tags: Array.from({ length: 50 }, (_, index) => `t${index}`),
  });
  const path = await writeArchive({ 'sections/a.jsonl': `${item}\n` });
  const { stdout } = await svcPkg(['inspect', path]);
  expect(stdout).toContain(`"${'x'.repeat(200)}... (1000 characters)"`);
  expect(stdout).toContain('"... (50 entries)"');
  expect(stdout).not.toContain('"t20"');
  expect((await svcPkg(['inspect', path, '--json'])).stdout).toContain(item);
});

it('shows no items with --samples 0', async () => {
  const path = await writeArchive(FILES);
  expect((await svcPkg(['inspect', path, '--samples', '0'])).stdout).not.toContain('first items');
});

it.each([
  [
    'inspect',
    'a line that is not an item',
    { 'sections/a.jsonl': '{"id":1}\n[]\n' },
    'sections/a.jsonl:2:1: ',
    'package_invalid_line',
  ],
  [
    'hash',
    'a line that is not an item',
    { 'sections/a.jsonl': '{"id":1}\n[]\n' },
    'sections/a.jsonl:2:1: ',
    'package_invalid_line',
  ],
  [
    'hash',
    'another hash in the manifest',
    {
      'manifest.json': `{"hash_spec":"svc-jcs-sha256-1","version_hash":"${'0'.repeat(64)}"}`,
      'sections/a.jsonl': '{}',
    },
    'manifest.json: ',
    'package_hash_mismatch',
  ],
  ['hash', 'no sections', { 'a.txt': '' }, null, 'package_no_sections'],
] as const)('%s ends at %s', async (command, _name, files, location, code) => {
  const path = await writeArchive(files);
  const { exitCode, stdout, stderr } = await svcPkg([command, path]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr.startsWith(location === null ? `${path}: ` : `${path}!/${location}`)).toBe(true);
  expect(stderr).toContain(`(${code})\n`);
});
