import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import JSZip from 'jszip';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import yazl from 'yazl';
import { openPackage, writePackage } from '../src/index.ts';
import { openPackageFile, writePackageStream } from '../src/node/index.ts';
import { collectBytes } from '../src/zip/byte-source.ts';
import { memoryDataset } from './memory-dataset.ts';
import { readEverything } from './read-everything.ts';

const run = promisify(execFile);
const has = (tool: string, ...args: string[]): boolean => {
  try {
    execFileSync(tool, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
const hasPython = has('python3', '-c', 'import zipfile');
const hasUnzip = has('unzip', '-v');
const hasZip = has('zip', '-v');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pkg-format-'));
});
afterAll(() => rm(folder, { recursive: true }));

const dataset = memoryDataset([
  {
    name: 'naïve/α',
    items: [
      {
        id: 1,
        inputs: { prompt: 'p' },
        assets: [{ mime_type: 'image/png', data: 'iVBORw==', encoding: 'base64' }],
      },
    ],
  },
  { name: 'b', items: Array.from({ length: 200 }, (_, id) => ({ id })) },
]);

async function written(): Promise<[string, Uint8Array][]> {
  return [
    ['stream', await collectBytes(writePackageStream(dataset))],
    ['memory', await writePackage(dataset)],
  ];
}

describe('what is written', () => {
  it.skipIf(!hasUnzip)('passes unzip -t', async () => {
    for (const [name, archive] of await written()) {
      const path = join(folder, `unzip-${name}.zip`);
      await writeFile(path, archive);
      expect((await run('unzip', ['-t', path])).stdout).toContain('No errors detected');
    }
  });

  it.skipIf(!hasPython)("is read by Python's zipfile", async () => {
    const script = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    print(json.dumps([[i.filename, i.file_size, list(i.date_time), oct(i.external_attr >> 16), i.create_system] for i in z.infolist()]))
`;
    for (const [name, archive] of await written()) {
      const path = join(folder, `python-${name}.zip`);
      await writeFile(path, archive);
      const listed: [string, number, ...unknown[]][] = JSON.parse(
        (await run('python3', ['-c', script, path])).stdout,
      );
      const asset = createHash('sha256').update(Buffer.from('iVBORw==', 'base64')).digest('hex');
      expect(listed.map(([path]) => path)).toEqual([
        'manifest.json',
        'meta.json',
        'sections/0-naïve%2Fα.jsonl',
        'sections/1-b.jsonl',
        `assets/${asset.slice(0, 2)}/${asset}.png`,
      ]);
      for (const [, , ...facts] of listed) expect(facts).toEqual([[1980, 1, 1, 0, 0, 0], '0o100644', 3]);
    }
  });

  const built = fileURLToPath(new URL('../dist/node/index.js', import.meta.url));
  it.skipIf(!existsSync(built))('is the same in every time zone', async () => {
    const script = `
import { createHash } from 'node:crypto';
import { writePackageStream } from ${JSON.stringify(built)};
const section = { name: 'a', itemCount: 0, sectionHash: new Uint8Array(32), exportFile: null, async *items() { yield [{ payload: '{}', answer: null, checker: null, assets: null }]; } };
const hash = createHash('sha256');
for await (const chunk of writePackageStream({ name: 'n', description: null, notes: null, schema: '{}', versionHash: '', sections: [section] })) hash.update(chunk);
console.log(hash.digest('hex'));
`;
    const zones = ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles', 'Asia/Kolkata'];
    const hashes = await Promise.all(
      zones.map((TZ) =>
        run(process.execPath, ['--input-type=module', '-e', script], { env: { ...process.env, TZ } }),
      ),
    );
    expect(new Set(hashes.map(({ stdout }) => stdout)).size).toBe(1);
  });
});

const FILES: Record<string, string> = {
  'manifest.json': '{"name":"n"}',
  'sections/a.jsonl': '{"id":1,"assets":["assets/x é.txt"]}\n{"id":2}\n',
  'sections/b.jsonl': '',
  'assets/x é.txt': 'hello '.repeat(1000),
};

async function expectRead(archive: Uint8Array, name: string): Promise<void> {
  const path = join(folder, name);
  await writeFile(path, archive);
  for (const pkg of [await openPackage(archive), await openPackageFile(path)]) {
    await using open = pkg;
    const { sections } = await readEverything(open);
    expect(sections.map(({ name, items }) => [name, items.length])).toEqual([
      ['a', 2],
      ['b', 0],
    ]);
  }
}

describe('archives of other tools are read', () => {
  const jszipOptions = (['STORE', 'DEFLATE'] as const).flatMap((compression) =>
    [true, false].flatMap((streamFiles) =>
      (['DOS', 'UNIX'] as const).flatMap((platform) =>
        [true, false].map((createFolders) => ({ compression, streamFiles, platform, createFolders })),
      ),
    ),
  );
  it.each(jszipOptions)('jszip %o', async ({ createFolders, ...options }) => {
    const zip = new JSZip();
    for (const [path, content] of Object.entries(FILES)) zip.file(path, content, { createFolders });
    await expectRead(
      await zip.generateAsync({ type: 'uint8array', comment: 'ünïcode', ...options }),
      'jszip.zip',
    );
  });

  const yazlOptions = [true, false].flatMap((compress) =>
    [true, false].flatMap((forceZip64Format) =>
      (['buffer', 'stream', 'file'] as const).map((from) => ({ compress, forceZip64Format, from })),
    ),
  );
  it.each(yazlOptions)('yazl %o', async ({ compress, forceZip64Format, from }) => {
    const zip = new yazl.ZipFile();
    for (const [index, [path, content]] of Object.entries(FILES).entries()) {
      const options = { compress, forceZip64Format, fileComment: 'c' };
      if (from === 'buffer') zip.addBuffer(Buffer.from(content), path, options);
      else if (from === 'stream') zip.addReadStream(Readable.from([Buffer.from(content)]), path, options);
      else {
        const file = join(folder, `content-${index}`);
        await writeFile(file, content);
        zip.addFile(file, path, options);
      }
    }
    zip.addEmptyDirectory('assets/empty');
    zip.end({ forceZip64Format, comment: 'done' });
    await expectRead(
      await collectBytes(zip.outputStream as unknown as AsyncIterable<Uint8Array>),
      'yazl.zip',
    );
  });

  const pythonWays = {
    deflated:
      'z = zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED)\nfor p, c in files.items(): z.writestr(p, c)\nz.close()',
    stored: 'z = zipfile.ZipFile(out, "w")\nfor p, c in files.items(): z.writestr(p, c)\nz.close()',
    'zip64 streams': `
z = zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED)
for p, c in files.items():
    with z.open(p, "w", force_zip64=True) as f: f.write(c.encode())
z.close()`,
    'an unseekable file': `
class Unseekable:
    def __init__(self, file): self.file = file
    def write(self, data): return self.file.write(data)
    def flush(self): self.file.flush()
with open(out, "wb") as file:
    z = zipfile.ZipFile(Unseekable(file), "w", zipfile.ZIP_DEFLATED)
    for p, c in files.items(): z.writestr(p, c)
    z.close()`,
    appending: `
for p, c in files.items():
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as z: z.writestr(p, c); z.comment = b"x"`,
    'a zipped folder': `
import shutil
root = out + "-root/my package/"
for p, c in files.items():
    os.makedirs(os.path.dirname(root + p), exist_ok=True)
    open(root + p, "w").write(c)
shutil.make_archive(out[:-4], "zip", out + "-root")`,
  };
  it.skipIf(!hasPython).each(Object.entries(pythonWays))("Python's zipfile: %s", async (way, code) => {
    const path = join(folder, `python ${way}.zip`);
    const script = `import json, os, sys, zipfile\nout = sys.argv[1]\nfiles = json.loads(sys.argv[2])\n${code}`;
    await run('python3', ['-c', script, path, JSON.stringify(FILES)]);
    await expectRead(await readFile(path), 'python.zip');
  });

  const zipWays: Record<string, [args: string[], inside: boolean]> = {
    plain: [['-r'], true],
    stored: [['-r0'], true],
    'best, without folders': [['-r9D'], true],
    'without extra fields': [['-rX'], true],
    'zip64 forced': [['-rfz'], true],
    'a folder': [['-r'], false],
  };
  it.skipIf(!hasZip).each(Object.entries(zipWays))('zip: %s', async (way, [args, inside]) => {
    const root = join(folder, `zip ${way}`);
    for (const [path, content] of Object.entries(FILES)) {
      await mkdir(join(root, path, '..'), { recursive: true });
      await writeFile(join(root, path), content);
    }
    const out = `${root}.zip`;
    const env = { ...process.env, LC_ALL: 'C.UTF-8' };
    if (inside) await run('zip', [...args, out, '.'], { cwd: root, env });
    else await run('zip', [...args, out, `zip ${way}`], { cwd: folder, env });
    await expectRead(await readFile(out), 'zip.zip');
  });

  it.skipIf(!hasZip)('zip, in a locale without Unicode and to a pipe', async () => {
    const root = join(folder, 'zip-pipe');
    for (const [path, content] of Object.entries(FILES)) {
      await mkdir(join(root, path, '..'), { recursive: true });
      await writeFile(join(root, path), content);
    }
    const { stdout } = await run('zip', ['-r', '-', '.'], {
      cwd: root,
      env: { ...process.env, LC_ALL: 'C' },
      encoding: 'buffer',
    });
    await expectRead(new Uint8Array(stdout), 'zip-pipe.zip');
  });
});
