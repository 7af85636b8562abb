import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const at = (path: string): URL => new URL(`../${path}`, import.meta.url);
const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8'));
const sources = readdirSync(at('src'), { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

const importsOf = (source: string): string[] =>
  [...readFileSync(at(`src/${source}`), 'utf8').matchAll(/^(?:import|export)[^;]*? from '([^']+)'/gms)].map(
    ([, name]) => name as string,
  );

describe('the package', () => {
  it('is a module without side effects, with an entry for each concept', () => {
    expect(manifest).toMatchObject({ type: 'module', sideEffects: false });
    expect(Object.keys(manifest.exports)).toEqual([
      ...['.', './assets', './bytes', './imports', './json', './lines', './mapping', './options', './runs'],
      ...['./secrets', './streams', './package.json'],
    ]);
    for (const entry of Object.values<object | string>(manifest.exports)) {
      if (typeof entry === 'string') continue;
      expect(Object.keys(entry)).toEqual(['types', 'default']);
    }
    expect(manifest.files).toContain('dist');
  });

  it('takes SHA-256 from Node where there is Node', () => {
    const conditions = manifest.imports['#native'];
    expect(Object.keys(conditions)).toEqual(['node', 'default']);
    expect(conditions.node.default).toBe('./dist/native-node.js');
    expect(conditions.default.default).toBe('./dist/native-portable.js');
    expect(sources).toEqual(expect.arrayContaining(['native-node.ts', 'native-portable.ts']));
  });

  it.each([
    ['@noble/hashes', '@noble/hashes/sha2.js', ['native-portable.ts']],
    ['Node', 'node:crypto', ['native-node.ts']],
    ['Node', 'node:buffer', ['native-node.ts']],
  ])('uses %s in one file', (_, name, files) => {
    expect(sources.filter((source) => importsOf(source).includes(name))).toEqual(files);
  });

  it('depends on nothing else', () => {
    const foreign = new Set(sources.flatMap(importsOf).filter((name) => !name.startsWith('.')));
    expect([...foreign].sort()).toEqual([
      '#native',
      '@noble/hashes/sha2.js',
      'node:buffer',
      'node:crypto',
      're2js',
    ]);
    expect(Object.keys(manifest.dependencies).sort()).toEqual(['@noble/hashes', 're2js']);
  });

  const portable = sources.filter((source) => !source.endsWith('-node.ts'));
  it.each(portable)('%s uses nothing that only Node has', (source) => {
    const text = readFileSync(at(`src/${source}`), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    expect(text).not.toMatch(/\b(Buffer|process|require|__dirname|setImmediate)\b/);
  });
});
