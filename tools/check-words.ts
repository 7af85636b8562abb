/**
 * Finds retired names and phrases: `node tools/check-words.ts [--strict] [file or folder …]`, by default the whole
 * repository. Prints `file:line: word → use …`. Exits 1 with `--strict` when it finds one.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IDENTIFIERS, PARTS, PHRASES } from './retired-words.ts';
import { splitSource } from './split-source.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const CODE = /\.[cm]?[jt]sx?$/;
const DOCUMENT =
  /\.(?:md|ya?ml|toml|service|sh|html)$|(?:^|\/)(?:Dockerfile|package\.json)$|^deploy\/.*\.json$/;
const EXCLUDED =
  /(?:^|\/)(?:CHANGELOG\.md|generated|dist|migrations|node_modules|fixtures)(?:\/|$)|^pnpm-lock|^tools\/(?:retired-words|check-words\.test)\.ts$/;
const DATA = /^conformance\/.*(?<!README\.md)$/;

interface Hit {
  readonly index: number;
  readonly word: string;
  readonly use: string;
}

function* phrasesIn(text: string, offset: number): Generator<Hit> {
  for (const { pattern, use } of PHRASES) {
    for (const match of text.matchAll(pattern)) {
      yield {
        index: offset + match.index,
        word: match[0].replaceAll(/\s+(?:(?:\*|\/\/|#|>)\s+)?/g, ' '),
        use,
      };
    }
  }
}

const parts = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);

const retiredPart = (name: string): string | undefined =>
  parts(name).find((part) => Object.hasOwn(PARTS, part));

/** Code about the reference answer of an item, which is an answer. */
const REFERENCE_FILES = /\/(?:checkers|mapping|suggest)\//;

function* namesIn(file: string, code: string, offset: number): Generator<Hit> {
  for (const match of code.matchAll(/[A-Za-z_$][\w$]*/g)) {
    const name = match[0];
    const isKey = /^\??:/.test(code.slice(match.index + name.length));
    if (isKey && (name === 'place' || name === 'refusal')) continue;
    if (/answer/i.test(name) && REFERENCE_FILES.test(file)) continue;
    const part = retiredPart(name);
    const use = part === undefined ? IDENTIFIERS.find(({ pattern }) => pattern.test(name))?.use : PARTS[part];
    if (use !== undefined) yield { index: offset + match.index, word: name, use };
  }
}

function* hitsIn(file: string, text: string): Generator<Hit> {
  const part = retiredPart(basename(file));
  if (part !== undefined) yield { index: 0, word: `file name ${basename(file)}`, use: PARTS[part] ?? '' };
  if (!CODE.test(file)) {
    yield* phrasesIn(text, 0);
    return;
  }
  for (const piece of splitSource(text)) {
    if (piece.kind === 'code') yield* namesIn(file, piece.text, piece.start);
    else yield* phrasesIn(piece.text, piece.start);
  }
}

const isStrict = process.argv.includes('--strict');
const folders = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', ...folders],
  {
    cwd: folders.length === 0 ? root : process.cwd(),
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => (CODE.test(file) || DOCUMENT.test(file)) && !EXCLUDED.test(file) && !DATA.test(file));

let count = 0;
for (const file of files) {
  const text = readIfThere(file);
  const hits = [...hitsIn(file, text)].sort((a, b) => a.index - b.index);
  for (const { index, word, use } of hits) {
    console.log(`${file}:${text.slice(0, index).split('\n').length}: ${word} → use ${use}`);
  }
  count += hits.length;
}
console.log(`words: ${count === 0 ? 'none retired' : `${count} retired, in ${files.length} files`}`);
process.exitCode = isStrict && count > 0 ? 1 : 0;

/** The text of a file; '' when it was deleted and the deletion is not committed yet. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
