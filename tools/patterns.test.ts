import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';
import { hostileTexts } from './hostile-texts.ts';

/*
 * Runs every regular expression of the code base on growing hostile input made of its parts. Its time must grow no
 * faster than the input (docs/decisions/patterns-on-a-linear-engine.md).
 */

const root = fileURLToPath(new URL('..', import.meta.url));

/** Patterns whose time grows faster, and why their input is short. */
const SHORT_INPUT: Readonly<Record<string, string>> = {};

/** Patterns that are built at run time, and why they are safe. */
const COMPUTED: Readonly<Record<string, string>> = {
  'packages/service/src/flows/results/read-pushed.ts':
    'the pattern of the schema of a scorer, which is tried as such',
  'packages/hub-client/src/splits/split-slice.ts':
    'constant parts; the whole is one anchored pattern for a split expression',
  'packages/hub-client/src/splits/default-splits.ts':
    'constant words between constant separators, without repeats',
  'packages/jsonl-v23/src/item/dataset-name.ts':
    'the pattern of the schema in the same file, which is tried as such',
  'packages/jsonl-v23/src/json/json-value.ts':
    'a random mark before and after a run of characters that the mark does not begin with',
  'packages/jsonl-v23/src/secrets.ts':
    'escaped secrets of the configuration, joined by alternation, without repeats',
  'packages/formats/src/tools/promptfoo-tests.ts':
    'constant words of assertions in an anchored pattern, followed by one optional part in brackets',
  'apps/web/src/ui/text/sure-markdown.ts': 'one anchored class of characters, without repeats',
  'packages/observability/src/line-format.ts':
    'escaped secrets of the configuration, joined by alternation, without repeats',
};

interface Pattern {
  readonly file: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
}

const patterns: Pattern[] = [];
const computed = new Set<string>();

for (const file of globSync('{packages/*,apps/*,prisma}/src/**/*.ts', { cwd: root })) {
  if (/\.test\.ts$|\/generated\//.test(file)) continue;
  const text = readFileSync(`${root}/${file}`, 'utf8');
  const { program, errors } = parseSync(file, text, { lang: 'ts' });
  if (errors.length > 0) throw new Error(`Cannot parse ${file}`);
  visit(program, (node) => {
    const line = text.slice(0, node.start).split('\n').length;
    const add = (source: string, flags: string): void => void patterns.push({ file, line, source, flags });
    if (node.type === 'Literal' && 'regex' in node) {
      const { pattern, flags } = node.regex as { pattern: string; flags: string };
      add(pattern, flags);
    }
    // JSON Schema: its validator compiles these
    if (node.type === 'Property' && nameOf((node as { key?: unknown }).key) === 'pattern') {
      const source = textOf((node as { value?: unknown }).value);
      if (source !== undefined) add(source, 'u');
    }
    if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return;
    const { callee, arguments: given } = node as unknown as { callee: unknown; arguments: unknown[] };
    if (nameOf(callee) !== 'RegExp') return;
    const source = textOf(given[0]);
    if (source === undefined) computed.add(file);
    else add(source, textOf(given[1]) ?? '');
  });
}

function visit(value: unknown, see: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, see);
  else if (typeof value === 'object' && value !== null && !(value instanceof RegExp)) {
    if ('type' in value && 'start' in value) see(value as Node);
    for (const one of Object.values(value)) visit(one, see);
  }
}

function nameOf(node: unknown): string | undefined {
  return (node as { name?: string } | undefined)?.name;
}

function textOf(node: unknown): string | undefined {
  const value = (node as { value?: unknown } | undefined)?.value;
  return typeof value === 'string' ? value : undefined;
}

/**
 * Each takes exponential time several times as long as the one before, so that it is found before it takes too long: also on a
 * machine that needs less than `MIN_SLOW_MS` for the first ones.
 */
const SIZES = [16, 20, 24, 28, 512, 8_192, 16_384, 32_768];
/** Shorter times are noise, and harmless. */
const MIN_SLOW_MS = 50;
/** Too much growth of the time, for input that grows by `FACTOR`. */
const FACTOR = 4;
const MAX_GROWTH = 8;
const ATTEMPTS = 3;

/** The processor's time, which other programs on the machine do not change much. */
function timeMs({ source, flags }: Pattern, text: string): number {
  const pattern = new RegExp(source, flags);
  const before = process.threadCpuUsage();
  if (pattern.global) text.replace(pattern, '');
  else pattern.exec(text);
  return process.threadCpuUsage(before).user / 1000;
}

/** The fastest of several attempts, because the machine may be busy: then caches are cold. */
function leastMs(pattern: Pattern, text: string): number {
  return Math.min(...Array.from({ length: ATTEMPTS }, () => timeMs(pattern, text)));
}

/** The beginning of a text for which the pattern's time grows too fast; undefined if there is none. */
function slowText(pattern: Pattern): string | undefined {
  for (const text of hostileTexts(pattern.source)) {
    for (const size of SIZES) {
      const large = text(size);
      if (timeMs(pattern, large) < MIN_SLOW_MS) continue;
      const slowMs = leastMs(pattern, large);
      const isSlow = slowMs > MIN_SLOW_MS && slowMs > MAX_GROWTH * leastMs(pattern, text(size / FACTOR));
      if (isSlow) return `${JSON.stringify(text(24))} takes ${Math.round(slowMs)} ms for ${size} characters`;
    }
  }
  return undefined;
}

describe('the patterns of the code base', () => {
  it('are found', () => {
    expect(patterns.length).toBeGreaterThan(100);
  });

  it('are known where they are put together at run time', () => {
    expect([...computed].sort()).toEqual(Object.keys(COMPUTED).sort());
  });

  it.each([
    ['^(a+)+$', ''],
    ['^(?:a|a)*b', ''],
    ['\\s+$', ''],
    ['^\\s*authorization', 'm'],
    ['\\beyJ[\\w-]{8,}\\.', ''],
    ['([A-Z]+)([A-Z][a-z])', 'g'],
    ['\\\\boxed\\{\\s*(?:text)?\\s*x', ''],
    ['"(?:[^"\\\\]|\\\\.)*"', 'g'],
  ])('would be found out: /%s/%s', (source, flags) => {
    expect(slowText({ file: 'this test', line: 1, source, flags })).toBeDefined();
  });

  const tried = patterns.filter(({ file, source }) => {
    // Without a repetition that has no limit, the time grows with the input and no faster.
    const isUnlimited = /[*+]|\{\d+,\}/.test(source.replaceAll(/\\./gs, ''));
    return isUnlimited && !(`${file} /${source}/` in SHORT_INPUT);
  });
  const byFile = Map.groupBy(tried, ({ file }) => file);
  it.each([...byFile.keys()])(
    'take time that grows with their input and no faster: %s',
    { timeout: 300_000 },
    (file) => {
      const slow = (byFile.get(file) ?? []).flatMap((pattern) => {
        const found = slowText(pattern);
        return found === undefined
          ? []
          : [`${file}:${pattern.line} /${pattern.source}/${pattern.flags}: ${found}`];
      });
      expect(slow).toEqual([]);
    },
  );

  it('that have an excuse are there, and need it', () => {
    for (const [key, reason] of Object.entries(SHORT_INPUT)) {
      const pattern = patterns.find(({ file, source }) => `${file} /${source}/` === key);
      expect(pattern, key).toBeDefined();
      expect(reason.length).toBeGreaterThan(20);
    }
  });
});
