/**
 * Checks the links of all Markdown files of the repository: relative ones, those into the repository by its public
 * address, and their #anchors. Prints each dead one as `file:line: reason` and exits 1. Does not request other addresses.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The public address of the repository's files. */
const PUBLIC_ADDRESS = /^https:\/\/github\.com\/svc-data\/svc\/(?:blob|tree)\/main(?:\/|$)/;

/** Lines of a Markdown text without code: fenced and indented blocks and code spans become blanks. */
function proseLines(markdown: string): string[] {
  let fence: string | undefined;
  let before = '';
  return markdown.split('\n').map((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
      return '';
    }
    if (mark !== undefined) {
      fence = mark;
      return '';
    }
    const indented = /^(?: {4}|\t)/.test(line) && (before.trim() === '' || /^(?: {4}|\t)/.test(before));
    before = line;
    return indented ? '' : line;
  });
}

const withoutCodeSpans = (line: string): string => line.replaceAll(/(`+)(?!`).*?[^`]\1(?!`)/g, ' ');

/**
 * The anchors of a Markdown text, as GitHub makes them: headings in lower case without punctuation and with hyphens for
 * spaces, `-1`, `-2` after repeated ones, and every `id` or `name` of an element.
 */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  for (const line of proseLines(markdown)) {
    const heading = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(line)?.[1];
    if (heading !== undefined) {
      const slug = heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/<[^>]*>/g, '')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
        .replaceAll(' ', '-');
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      anchors.add(count === 0 ? slug : `${slug}-${count}`);
    }
    for (const [, id = ''] of withoutCodeSpans(line).matchAll(/<\w+\s[^>]*?\b(?:id|name)="([^"]+)"/g))
      anchors.add(id);
  }
  return anchors;
}

/** A link of a Markdown text. */
export interface Link {
  readonly target: string;
  /** From 1 */
  readonly line: number;
}

/** The links and images of a Markdown text: inline ones, definitions of references, and `href` and `src`. */
export function linksOf(markdown: string): Link[] {
  const links: Link[] = [];
  proseLines(markdown).forEach((raw, index) => {
    const line = withoutCodeSpans(raw.replaceAll(/\[(`[^`]*`)\]\(/g, '[code]('));
    const add = (target: string | undefined): void => {
      if (target !== undefined) links.push({ target: target.replace(/^<(.*)>$/, '$1'), line: index + 1 });
    };
    for (const match of line.matchAll(
      /\]\(\s*(<[^>]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+["'][^)]*)?\s*\)/g,
    )) {
      add(match[1]);
    }
    add(/^ {0,3}\[[^\]]+\]:\s*(\S+)/.exec(line)?.[1]);
    for (const match of line.matchAll(/<\w+\s[^>]*?\b(?:href|src)="([^"]+)"/g)) add(match[1]);
  });
  return links;
}

/**
 * The dead links of some Markdown files of one repository.
 *
 * @param root folder of the repository
 * @param files paths below it
 * @returns one line of text for each, `file:line: reason`
 */
export function deadLinks(root: string, files: readonly string[]): string[] {
  const anchors = new Map<string, Set<string>>();
  const anchorsOfFile = (path: string): Set<string> => {
    const known = anchors.get(path) ?? anchorsOf(readFileSync(path, 'utf8'));
    anchors.set(path, known);
    return known;
  };
  return files.flatMap((file) =>
    linksOf(readFileSync(join(root, file), 'utf8')).flatMap(({ target, line }) => {
      const dead = (reason: string): string[] => [`${file}:${line}: ${reason}: ${target}`];
      const outside = PUBLIC_ADDRESS.exec(target)?.[0];
      if (outside === undefined && /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(target)) return [];
      if (target.startsWith('/')) return dead('not relative');
      const [path = '', anchor] = (outside === undefined ? target : target.slice(outside.length)).split(
        '#',
        2,
      );
      const from = outside === undefined ? join(root, dirname(file)) : root;
      let found: string;
      try {
        found =
          path === '' && outside === undefined ? join(root, file) : join(from, decodeURIComponent(path));
      } catch {
        return dead('not a valid address');
      }
      if (relative(root, found).startsWith('..')) return dead('leaves the repository');
      if (!existsSync(found)) return dead('no such file');
      if (anchor === undefined || !found.endsWith('.md')) return [];
      return anchorsOfFile(found).has(decodeURIComponent(anchor)) ? [] : dead('no such anchor');
    }),
  );
}

const NOT_SOURCE = new Set(['.git', '.turbo', 'node_modules', 'dist', 'generated', 'data']);

/** The Markdown files in a folder, as paths from it, without installed and built files. */
export function markdownFiles(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_SOURCE.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return markdownFiles(root, path);
    return entry.isFile() && entry.name.endsWith('.md') ? [path] : [];
  });
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const files = markdownFiles(root);
  const dead = deadLinks(root, files);
  for (const line of dead) console.error(line);
  if (dead.length > 0) process.exitCode = 1;
  else console.log(`${files.length} Markdown files, no dead link`);
}
