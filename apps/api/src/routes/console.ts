import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { escapeHtml, ok, RequestError, type Route, type RouteResponse, stream } from '@svc/service';

const NONCE = '__CSP_NONCE__';
/** What the page has where it says whether it may show images of other hosts. */
const IMAGES = '__IMAGES__';

/** The cookie by which the user of a browser has chosen that; it is the page that sets it. */
const SHOWS_IMAGES = /(?:^|;) ?svc_images=shown(?:;|$)/;

/** One page serves every address of the console: the page's own router reads the rest of the path. */
const PAGES: readonly (readonly [path: string, operationId: string])[] = [
  ['/console', 'getConsole'],
  ['/console/{page}', 'getConsolePage'],
  ['/console/{page}/{id}', 'getConsoleEntry'],
];

export function consoleRoutes(console: ConsoleFiles | null): readonly Route[] {
  if (console === null) return [];
  const common = { method: 'get', tag: 'console', access: 'public' } as const;
  const pages = PAGES.map(
    ([path, operationId]): Route => ({
      ...common,
      path,
      operationId,
      summary: 'The console in a browser',
      ignoresQuery: true,
      produces: 'text/html',
      responses: ok('HTML', { type: 'string' }),
      handle: async ({ header }) => consolePage(console, header('cookie')),
    }),
  );
  return [
    {
      ...common,
      path: '/console/assets/{file}',
      operationId: 'getConsoleFile',
      summary: 'A file of the console, for good: its name changes with its content',
      produces: '*/*',
      headers: { 'Accept-Encoding': { type: 'string', description: '`br` or `gzip`' } },
      responses: ok('the file', { type: 'string' }),
      errors: ['not_found'],
      handle: async ({ params, raw }) => {
        const file = console.files.get(params['file'] ?? '');
        if (file === undefined) throw new RequestError('not_found', 'The console has no file of this name.');
        return sendFile(file.type, file.bodies, raw.acceptsEncodings());
      },
    },
    ...pages,
  ];
}

/** The page runs its own scripts alone, and reaches no other host, but for images where the user has chosen to see them. */
export function consolePage({ page }: ConsoleFiles, cookies: string | undefined): RouteResponse {
  const showsImages = SHOWS_IMAGES.test(cookies ?? '');
  const nonce = randomBytes(16).toString('base64url');
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src 'self' data: blob:${showsImages ? ' https:' : ''}`,
    "media-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    kind: 'text',
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy.join('; '),
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      Vary: 'Accept, Cookie',
    },
    body: page.replaceAll(NONCE, nonce).replace(IMAGES, showsImages ? 'shown' : ''),
  };
}

function sendFile(
  type: string,
  bodies: ReadonlyMap<string, Uint8Array>,
  accepted: readonly string[],
): RouteResponse {
  const [encoding, bytes] =
    [...bodies].find(([name]) => name === 'identity' || accepted.includes(name)) ?? [];
  async function* body(): AsyncGenerator<Uint8Array> {
    if (bytes !== undefined) yield bytes;
  }
  return stream(body(), {
    'Content-Type': type,
    'Content-Length': String(bytes?.byteLength ?? 0),
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
    ...(encoding === undefined || encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
  });
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.zip': 'application/zip',
};

export type ConsoleFiles = NonNullable<ReturnType<typeof openConsole>>;

const NAME = /__NAME__/g;

/** Reads the built console, a few megabytes, into memory. Null if it has not been built: the API works without it. */
export function openConsole(folder: string, name: string) {
  const index = join(folder, 'index.html');
  if (!existsSync(index)) return null;
  const assets = join(folder, 'assets');
  const names = new Set(readdirSync(assets));
  /** By name, which changes with the content: encoding → bytes, the smallest first, `identity` last and always there. */
  const files = new Map<
    string,
    { readonly type: string; readonly bodies: ReadonlyMap<string, Uint8Array> }
  >();
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const bodies = new Map<string, Uint8Array>();
    for (const [encoding, extension] of Object.entries({ br: '.br', gzip: '.gz' }))
      if (names.has(name + extension)) bodies.set(encoding, readFileSync(join(assets, name + extension)));
    files.set(name, { type, bodies: bodies.set('identity', readFileSync(join(assets, name))) });
  }
  return { page: readFileSync(index, 'utf8').replace(NAME, () => escapeHtml(name)), files };
}
