import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generatorMembers } from '../src/package/layout.ts';

const at = (path: string): URL => new URL(`../${path}`, import.meta.url);
const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8'));
const sources = readdirSync(at('src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => `src/${name.replaceAll('\\', '/')}`)
  .sort();
const forNode = sources.filter((source) => /^src\/node\/|-node\.ts$/.test(source));
const portable = sources.filter((source) => !forNode.includes(source));

const importsOf = (source: string): string[] => {
  const code = readFileSync(at(source), 'utf8');
  const found = /^(?:import|export)[^;]*? from '([^']+)'|\bimport\('([^']+)'\)/gms;
  return [...code.matchAll(found)].map(([, name, lazy]) => String(name ?? lazy));
};

describe('the package', () => {
  it('stamps what it writes with its name and version, or those of the program that it is a part of', () => {
    expect(generatorMembers()).toEqual({ generator: manifest.name, generator_version: manifest.version });
    const other = { generator: 'other', generator_version: '7.1.0' };
    expect(generatorMembers({ name: 'other', version: '7.1.0' })).toEqual(other);
    for (const source of sources)
      expect(readFileSync(at(source), 'utf8')).not.toMatch(/(?:from |import\(|URL\()'[^']*package\.json/);
  });

  it('is a module without side effects, with entries for any runtime and one for Node', () => {
    expect(manifest).toMatchObject({ type: 'module', sideEffects: false });
    expect(Object.keys(manifest.exports)).toEqual(['.', './node', './secrets', './package.json']);
    for (const entry of Object.values(manifest.exports).filter((one) => typeof one === 'object'))
      expect(Object.keys(entry as object)).toEqual(['types', 'default']);
    expect(manifest.files).toContain('dist');
  });

  it('takes its byte tools from Node where it runs on Node', () => {
    const conditions = manifest.imports['#byte-tools'];
    expect(Object.keys(conditions)).toEqual(['node', 'default']);
    expect(conditions.node.default).toBe('./dist/zip/byte-tools-node.js');
    expect(conditions.default.default).toBe('./dist/zip/byte-tools-web.js');
    expect(sources).toEqual(
      expect.arrayContaining(['src/zip/byte-tools-node.ts', 'src/zip/byte-tools-web.ts']),
    );
  });

  it.each([['jszip', ['src/write/write-package.ts']]])('uses %s where it says', (name, files) => {
    expect([...portable, ...forNode].filter((source) => importsOf(source).includes(name))).toEqual(files);
  });

  it('depends on nothing else', () => {
    const foreign = new Set(
      [...portable, ...forNode].flatMap(importsOf).filter((name) => !/^[.#]|^node:/.test(name)),
    );
    expect([...foreign].sort()).toEqual([
      '@svc/jsonl-v23',
      '@svc/jsonl-v23/assets',
      '@svc/jsonl-v23/bytes',
      '@svc/jsonl-v23/imports',
      '@svc/jsonl-v23/json',
      '@svc/jsonl-v23/lines',
      '@svc/jsonl-v23/mapping',
      '@svc/jsonl-v23/options',
      '@svc/jsonl-v23/runs',
      '@svc/jsonl-v23/secrets',
      '@svc/jsonl-v23/streams',
      'jszip',
    ]);
    expect(Object.keys(manifest.dependencies).sort()).toEqual(['@svc/jsonl-v23', 'jszip']);
  });

  it.each(portable)('%s runs anywhere', (source) => {
    const text = readFileSync(at(source), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    expect(text).not.toMatch(/\b(Buffer|process|require|__dirname|setImmediate)\b|'node:/);
    for (const name of importsOf(source)) expect(name).not.toMatch(/\/node\/|-node\.ts$/);
  });
});
