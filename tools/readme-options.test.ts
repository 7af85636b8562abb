import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { publishablePackages } from './packages/publishable.ts';

/** What a package exports from the entries that it promises to keep. */
function exportedNames(folder: string): Set<string> {
  const entries = globSync(['src/{index,datasets,mapping}.ts', 'src/{node,json,write}/index.ts'], {
    cwd: folder,
  });
  const lists = entries.flatMap((entry) => {
    const code = readFileSync(join(folder, entry), 'utf8');
    return [...code.matchAll(/export (?:type )?\{([^}]*)\}/g)].map(([, list = '']) => list);
  });
  return new Set(
    lists.flatMap((list) => list.split(',').map((name) => name.replace(/\btype\b|\w+ as /g, '').trim())),
  );
}

/** Members of the exported interfaces of options, and the error codes, as the sources declare them. */
function documentable(folder: string): { options: [string, string][]; codes: string[] } {
  const exported = exportedNames(folder);
  const options: [string, string][] = [];
  const codes: string[] = [];
  for (const path of globSync('src/**/*.ts', { cwd: folder, exclude: ['**/generated/**', '**/*.test.ts'] })) {
    const code = readFileSync(join(folder, path), 'utf8');
    for (const [, name = '', body = ''] of code.matchAll(/^export interface (\w+)[^{]*\{\n([\s\S]*?)^\}/gm)) {
      // Errors are thrown to users, not made by them.
      if (!exported.has(name) || !/(?<!Error)(?:Options|Limits|Timeouts|Policy)$/.test(name)) continue;
      for (const [, member = ''] of body.matchAll(/^ {2}readonly (\w+)\??:/gm)) options.push([name, member]);
    }
    for (const [, name = '', union = ''] of code.matchAll(/^export type (\w+ErrorCode) =([\s\S]*?);$/gm)) {
      if (exported.has(name)) codes.push(...[...union.matchAll(/'(\w+)'/g)].map(([, member = '']) => member));
    }
  }
  return { options, codes };
}

describe.each(publishablePackages().map(({ folder, manifest }) => [manifest.name, folder]))(
  'the README of %s',
  (_name, folder) => {
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    const spans = [...readme.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)].map(
      ([, text = '']) => text,
    );
    const words = new Set(spans.flatMap((span) => span.match(/\w+/g) ?? []));
    const { options, codes } = documentable(folder);

    it('names every option', () => {
      const missing = options.filter(([, member]) => !words.has(member)).map((pair) => pair.join('.'));
      expect(missing).toEqual([]);
    });

    it('names every error code', () => {
      expect(codes.filter((code) => !spans.includes(code))).toEqual([]);
    });
  },
);
