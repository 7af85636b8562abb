/**
 * Checks the shape of the sources: `node tools/check-structure.ts [--strict] [folder …]`, by default the whole
 * repository. Prints `file:line: reason`.
 *
 * Rules, for which `--strict` exits with 1: members of interfaces that nothing assigns are `readonly`, their comments
 * begin with a capital letter, and counters are `count += 1`.
 *
 * Sizes are a report and fail nothing, because a limit would decide where code is cut: folders of more than 15 sources,
 * packages whose median file is long, files of over 350 lines without a reason at their top, components of 200 lines or
 * more, and classes of over 250.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { splitSource } from './split-source.ts';

const MAX_FOLDER_FILES = 15;
const MAX_MEDIAN_LINES = 100;
const MIN_MEDIAN_FILES = 5;
const MAX_PLAIN_FILE_LINES = 350;
const MAX_CLASS_LINES = 250;
const MAX_COMPONENT_LINES = 200;

interface Source {
  readonly file: string;
  readonly text: string;
  /** The text with spaces for each character of a comment or string, so that braces and names are code. */
  readonly code: string;
  readonly lineCount: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const isSource = (file: string): boolean =>
  /^(?:packages\/[^/]+|apps\/[^/]+|prisma)\/src\/.*\.tsx?$|^(?:tools|bench)\/.*\.(?:ts|mjs)$/.test(file) &&
  !/\.(?:test|d)\.tsx?$|\/(?:generated|page)\//.test(file);
const packageOf = (file: string): string => /^(?:(?:packages|apps)\/)?[^/]+/.exec(file)?.[0] ?? file;
const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;
const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

function readSource(file: string): Source {
  const text = readFileSync(`${root}/${file}`, 'utf8');
  const code = [...splitSource(text)].map((piece) =>
    piece.kind === 'code' ? piece.text : blank(piece.text),
  );
  return { file, text, code: code.join(''), lineCount: text.split('\n').length - 1 };
}

/** Index of the brace that closes the one at `open`. */
function closingBrace(code: string, open: number): number {
  let depth = 0;
  for (let index = open; index < code.length; index += 1) {
    if (code[index] === '{') depth += 1;
    else if (code[index] === '}') depth -= 1;
    if (depth === 0) return index;
  }
  return code.length;
}

function* bodies(
  source: Source,
  head: RegExp,
): Generator<{ name: string; start: number; open: number; end: number }> {
  for (const match of source.code.matchAll(head)) {
    const open = match.index + match[0].length - 1;
    yield { name: match[1] ?? '', start: match.index, open, end: closingBrace(source.code, open) };
  }
}

function* longClasses(source: Source): Generator<string> {
  for (const { name, start, end } of bodies(source, /\bclass (\w+)[^{;]*\{/g)) {
    const lines = lineAt(source.text, end) - lineAt(source.text, start) + 1;
    if (lines <= MAX_CLASS_LINES) continue;
    yield `${source.file}:${lineAt(source.text, start)}: class ${name} has ${lines} lines, at most ${MAX_CLASS_LINES}`;
  }
}

/** The text of a body with spaces for everything in deeper braces, brackets and parentheses. */
function topLevel(body: string): string {
  let depth = 0;
  let text = '';
  for (const character of body) {
    if ('}])'.includes(character)) depth -= 1;
    text += depth <= 1 || character === '\n' ? character : ' ';
    if ('{[('.includes(character)) depth += 1;
  }
  return text;
}

/** Names of members that a package assigns: these may be mutable. */
function assignedNames(sources: readonly Source[]): ReadonlySet<string> {
  const assignment =
    /\.(\w+)(?:\+\+|--|\s*(?:[-+*/%&|^]|<<|>>>?|\?\?|&&|\|\|)?=(?![=>])|[,\]}\s]*\] = )|(?:\+\+|--)[\w.]*\.(\w+)/g;
  return new Set(
    sources.flatMap(({ code }) => [...code.matchAll(assignment)].map(([, a, b]) => a ?? b ?? '')),
  );
}

function* looseMembers(source: Source, assigned: ReadonlySet<string>): Generator<string> {
  for (const { open, end } of bodies(source, /\b(?:interface (\w+)[^{;]*|type (\w+)[^={;]*=\s*)\{/g)) {
    const members = topLevel(source.code.slice(open, end));
    for (const match of members.matchAll(/(?<=[{;,]\s*)(?!readonly\b)([\w$]+)\??:/g)) {
      if (assigned.has(match[1] ?? '')) continue;
      const line = lineAt(source.text, open + match.index);
      yield `${source.file}:${line}: member ${match[1]} is not readonly`;
    }
    for (const match of source.text
      .slice(open, end)
      .matchAll(/\n\s*(?:\/\*\*\s+|\/\*\*\n\s+\* )([a-z][a-z-]*)\b(?![.(])/g)) {
      const line = lineAt(source.text, open + match.index + 1);
      yield `${source.file}:${line}: a comment begins with "${match[1]}", in lower case`;
    }
  }
}

function* counters(source: Source): Generator<string> {
  for (const { index } of source.code.matchAll(/(?<=[;{})]\s*|\belse )[\w.#]+(?:\+\+|--)(?=;)/g)) {
    yield `${source.file}:${lineAt(source.text, index)}: write += 1 or -= 1 for a counter`;
  }
}

function* longFiles(source: Source): Generator<string> {
  if (source.lineCount <= MAX_PLAIN_FILE_LINES || /^(?:#!.*\n)?\s*\/[*/]/.test(source.text)) return;
  yield `${source.file}: has ${source.lineCount} lines; a file of over ${MAX_PLAIN_FILE_LINES} says at its top why`;
}

/** A component that needs more is several components. */
function* longComponents({ file, lineCount }: Source): Generator<string> {
  if (file.endsWith('.tsx') && lineCount >= MAX_COMPONENT_LINES)
    yield `${file}: has ${lineCount} lines, a component file fewer than ${MAX_COMPONENT_LINES}`;
}

function* fullFolders(sources: readonly Source[]): Generator<string> {
  const folders = Map.groupBy(sources, ({ file }) => dirname(file));
  for (const [folder, { length }] of folders) {
    if (length > MAX_FOLDER_FILES) yield `${folder}: has ${length} sources, at most ${MAX_FOLDER_FILES}`;
  }
}

function* longMedians(sources: readonly Source[]): Generator<string> {
  for (const [name, files] of Map.groupBy(sources, ({ file }) => packageOf(file))) {
    if (files.length < MIN_MEDIAN_FILES) continue;
    const lines = files.map(({ lineCount }) => lineCount).sort((a, b) => a - b);
    const median = lines[Math.floor(lines.length / 2)] ?? 0;
    if (median > MAX_MEDIAN_LINES)
      yield `${name}: its median file has ${median} lines, at most ${MAX_MEDIAN_LINES}`;
  }
}

const isStrict = process.argv.includes('--strict');
const folders = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'];
const sources = execFileSync('git', [...listed, '--', ...folders], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => isSource(file))
  .flatMap((file) => {
    try {
      return [readSource(file)];
    } catch {
      return []; // deleted, and the deletion is not committed yet
    }
  });
const byPackage = Map.groupBy(sources, ({ file }) => packageOf(file));
const assigned = new Map([...byPackage].map(([name, files]) => [name, assignedNames(files)]));
const broken = sources.flatMap((source) => [
  ...looseMembers(source, assigned.get(packageOf(source.file)) ?? new Set()),
  ...counters(source),
]);
const sizes = [
  ...fullFolders(sources),
  ...longMedians(sources),
  ...sources.flatMap((source) => [...longFiles(source), ...longComponents(source), ...longClasses(source)]),
];
for (const line of [...sizes, ...broken]) console.log(line);
console.log(
  `structure: ${broken.length} broken rules, ${sizes.length} large sizes in ${sources.length} files`,
);
process.exitCode = isStrict && broken.length > 0 ? 1 : 0;
