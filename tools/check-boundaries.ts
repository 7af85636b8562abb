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
  '@svc/jsonl-v23',
  '@svc/pkg-format',
  '@svc/hub-client',
  '@svc/observability',
  '@svc/service',
];

/** Workspace folder → the workspace packages, or entries of them, that it may import. */
const ARROWS: Record<string, readonly string[]> = {
  'packages/jsonl-v23': [],
  'packages/observability': [],
  'packages/pkg-format': ['@svc/jsonl-v23'],
  'packages/tabular': ['@svc/jsonl-v23'],
  'packages/hub-client': ['@svc/jsonl-v23', '@svc/tabular'],
  'packages/formats': ['@svc/jsonl-v23', '@svc/tabular', '@svc/pkg-format', '@svc/hub-client'],
  'packages/service': [
    '@svc/formats',
    '@svc/hub-client',
    '@svc/jsonl-v23',
    '@svc/observability',
    '@svc/pkg-format',
    '@svc/tabular',
  ],
  'apps/api': [...OF_APPS, '@svc/tabular'],
  'apps/worker': OF_APPS,
  'packages/client': ['@svc/jsonl-v23'],
  'packages/svc-pkg': [
    // only `evaluation.ts`, which the build bundles
    '@svc/service/evaluation',
    '@svc/formats',
    '@svc/jsonl-v23',
    '@svc/pkg-format',
    '@svc/tabular',
    '@svc/hub-client',
    '@svc/client',
  ],
  'apps/cli': OF_APPS,
  'apps/web': ['@svc/client', '@svc/jsonl-v23', '@svc/pkg-format'],
  'apps/standalone': ['@svc/api', '@svc/service', '@svc/worker'],
};

/** Folders of a package that import less than it may. */
const FOLDER_ARROWS: Record<string, readonly string[]> = {
  'packages/service/src/concurrency/': [],
  'packages/service/src/evaluation/': ['@svc/hub-client', '@svc/jsonl-v23'],
  'packages/service/src/store/': ['@svc/jsonl-v23'],
};

/**
 * A folder → its folders, from the lowest to the highest: each imports those of earlier lines. Files at the top put
 * them together, and `context.ts` says what all of them share.
 */
const LAYERS: Record<string, readonly (readonly string[])[]> = {
  'packages/service/src/store/': [
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
  'packages/service/src/': [
    ['concurrency', 'secrets', 'telemetry'],
    ['evaluation'],
    ['store'],
    ['config'],
    ['flows', 'http'],
    ['lifecycle'],
  ],
};

/** Outside library → the only places (path prefixes) that may import it. */
const OWNERS: Record<string, readonly string[]> = {
  express: ['packages/service/src/http/', 'apps/api/src/'],
  busboy: ['apps/api/src/http/'],
  helmet: ['packages/service/src/http/'],
  negotiator: ['packages/service/src/http/'],
  cors: ['packages/service/src/http/'],
  'content-disposition': ['apps/api/src/http/'],
  '@prisma/': ['packages/service/src/store/'],
  pg: ['packages/service/src/store/', 'apps/standalone/src/embedded-postgres/'],
  'pg-copy-streams': ['packages/service/src/store/'],
  'lru-cache': ['packages/service/src/store/'],
  '@aws-sdk/': ['packages/service/src/store/assets/s3/'],
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
  ajv: ['packages/service/src/evaluation/config/', 'packages/service/src/http/'],
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
  re2js: ['packages/service/src/evaluation/checkers/', 'packages/jsonl-v23/src/mapping/'],
};

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g;

/** Entry points; and the embedded server, whose programs are found along PATH and run with nothing else; and threads, in which an exit ends the thread alone. */
const MAY_READ_ENVIRONMENT =
  /^(apps\/[^/]+\/src\/main\.ts|packages\/svc-pkg\/src\/main\.ts|apps\/standalone\/src\/embedded-postgres\/processes\.ts|packages\/service\/src\/concurrency\/threads\.ts)$/;

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '');

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (['node_modules', 'dist', 'generated', 'migrations'].includes(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (/\.(?:[cm]?[jt]s|tsx)$/.test(entry.name)) yield path;
  }
}

/** Why a file below a folder with layers may not import another one; undefined if it may. */
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
    const entered = Object.keys(FOLDER_ARROWS).find((src) => target.startsWith(src) && !file.startsWith(src));
    if (entered !== undefined && target.slice(entered.length).includes('/')) {
      return `${specifier} is not at the top of ${entered}, whose files there are all that others import`;
    }
    return Object.keys(LAYERS)
      .filter((src) => file.startsWith(src) && target.startsWith(src))
      .map((src) => upwardImport(src, file, target))
      .find((reason) => reason !== undefined);
  }
  if (specifier.startsWith('@svc/')) {
    const name = specifier.split('/').slice(0, 2).join('/');
    const own = JSON.parse(readFileSync(join(root, owner, 'package.json'), 'utf8')).name;
    const folder = Object.keys(FOLDER_ARROWS).find((src) => file.startsWith(src));
    const allowed = folder === undefined ? [own, ...(ARROWS[owner] ?? [])] : (FOLDER_ARROWS[folder] ?? []);
    return allowed.some((arrow) => arrow === name || arrow === specifier)
      ? undefined
      : `may not import ${specifier}`;
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
