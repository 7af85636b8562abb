import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** Media types of the files that a build of the console has. */
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.zip': 'application/zip',
};

/** Compressed forms of a file, the smallest first. */
const ENCODINGS: readonly (readonly [name: string, extension: string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

/** One file of the console. Its name changes with its content. */
export interface ConsoleFile {
  readonly type: string;
  /** Encoding → bytes, the smallest first; `identity` is the last and always there. */
  readonly bodies: ReadonlyMap<string, Uint8Array>;
}

/** The built console: its page and its files. */
export interface ConsoleFiles {
  /** The HTML page, with a placeholder for the nonce of its styles. */
  readonly page: string;
  /** By name. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/** What the page has where its name belongs. */
const NAME = /__NAME__/g;

/**
 * Reads the built console, a few megabytes, into memory. Null if it has not been built: the API works without it.
 *
 * @param name what the console is called
 */
export function openConsole(folder: string, name: string): ConsoleFiles | null {
  const index = join(folder, 'index.html');
  if (!existsSync(index)) return null;
  const assets = join(folder, 'assets');
  const names = new Set(readdirSync(assets));
  const files = new Map<string, ConsoleFile>();
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const bodies = new Map<string, Uint8Array>();
    for (const [encoding, extension] of ENCODINGS)
      if (names.has(name + extension)) bodies.set(encoding, readFileSync(join(assets, name + extension)));
    files.set(name, { type, bodies: bodies.set('identity', readFileSync(join(assets, name))) });
  }
  return { page: readFileSync(index, 'utf8').replace(NAME, () => escaped(name)), files };
}

/** A text in an element or an attribute of HTML. */
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`);
