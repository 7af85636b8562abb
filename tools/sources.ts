import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A target of `exports` or `imports` in a manifest: a file, or one for each condition. */
type Target = string | { readonly [condition: string]: Target };

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, Target>>;
  readonly imports?: Readonly<Record<string, Target>>;
}

/**
 * For `resolve.alias` of Vite: every entry of every package of the workspace → its source. Tests and services are made of
 * sources, which need no build.
 *
 * @param condition of the files that packages have for one platform only: of Node, or of any other
 */
export function sourceAliases(
  condition: 'node' | 'default' = 'node',
): { find: RegExp; replacement: string }[] {
  const folders = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(`${root}${parent}`).map((name) => `${parent}/${name}`),
  );
  return folders.flatMap((folder) => {
    const { name, exports, imports } = readManifest(folder);
    const entries = Object.entries(exports ?? {}).map(
      ([path, target]) => [name + path.slice(1), target] as const,
    );
    return [...entries, ...Object.entries(imports ?? {})].flatMap(([specifier, target]) => {
      const [, file] = /^\.\/dist\/(.+)\.js$/.exec(fileOf(target, condition)) ?? [];
      if (file === undefined) return [];
      return [{ find: new RegExp(`^${specifier}$`), replacement: `${root}${folder}/src/${file}.ts` }];
    });
  });
}

function fileOf(target: Target, condition: string): string {
  return typeof target === 'string'
    ? target
    : fileOf(target[condition] ?? target['default'] ?? '', condition);
}

/** A folder that a build has left has no manifest. */
function readManifest(folder: string): Manifest {
  try {
    return JSON.parse(readFileSync(`${root}${folder}/package.json`, 'utf8'));
  } catch {
    return { name: '' };
  }
}
