import type { JsonValue } from '@svc/jsonl-v23/json';

/** What of an output is scored: what follows its reasoning, or all of it. */
export type ReasoningMode = 'strip' | 'score';

/** The parts of an output. */
export interface SplitOutput {
  /** What is scored. */
  readonly scored: JsonValue;
  /** The reasoning in front of it; null without any. */
  readonly reasoning: string | null;
  /** Whether the output ends before its reasoning does. */
  readonly isOnlyReasoning: boolean;
}

const TAG = /<(\/?)(think|thinking|thought|reasoning)(?:\s[^<>]{0,256})?>|\[(\/?)(think)\]/giy;
const HARMONY_FINAL = '<|channel|>final<|message|>';
const HARMONY_START = /^(?:<\|start\|>[a-z]{0,32})?<\|channel\|>|^(?:analysis|commentary)<\|message\|>/;
const HARMONY_MARK = /<\|(?:start|channel|message|end|return|call|constrain)\|>/g;

/**
 * Splits the reasoning off an output. Reasoning is
 * - one or more blocks in `<think>`, `<thinking>`, `<thought>`, `<reasoning>` or `[THINK]` at the beginning,
 * - everything up to the last closing tag that has no opening one: a chat template had opened it,
 * - what precedes the last `final` channel of an output in OpenAI's Harmony format.
 *
 * A tag in the middle of an answer, and one in quotes or code, is text. Only texts have reasoning.
 */
export function splitReasoning(output: JsonValue, mode: ReasoningMode): SplitOutput {
  if (typeof output !== 'string' || mode === 'score') return whole(output);
  return splitHarmony(output) ?? splitBlocks(output);
}

function splitHarmony(output: string): SplitOutput | null {
  const text = output.trimStart();
  const final = text.lastIndexOf(HARMONY_FINAL);
  const begins = HARMONY_START.test(text);
  if (!begins && (final < 0 || !text.slice(0, final).includes('<|end|>'))) return null;
  if (final < 0) return split(text.replaceAll(HARMONY_MARK, ' '), '');
  const answer = text.slice(final + HARMONY_FINAL.length);
  const end = answer.search(/<\|(?:return|end|call|start)\|>/);
  return split(text.slice(0, final).replaceAll(HARMONY_MARK, ' '), end < 0 ? answer : answer.slice(0, end));
}

interface Tag {
  readonly name: string;
  readonly isClosing: boolean;
  readonly start: number;
  readonly end: number;
}

function splitBlocks(output: string): SplitOutput {
  const tags = tagsOf(output);
  if (tags.length === 0) return whole(output);
  let start = skipBlanks(output, 0);
  let isOpen = false;
  const blocks: string[] = [];
  for (let at = 0; at < tags.length; at += 1) {
    const tag = tags[at] as Tag;
    if (tag.start !== start || tag.isClosing) break;
    let close = at + 1;
    while (close < tags.length && !(tags[close]?.isClosing && tags[close]?.name === tag.name)) close += 1;
    const closing = tags[close];
    isOpen = closing === undefined;
    if (closing === undefined) break;
    blocks.push(output.slice(tag.end, closing.start).trim());
    start = skipBlanks(output, closing.end);
    at = close;
  }
  const cut = lastUnopened(output, tags, start, isOpen);
  if (cut !== undefined) {
    blocks.push(output.slice(start, cut.start).trim());
    start = cut.end;
  } else if (isOpen) return split([...blocks, output.slice(start)].join('\n\n'), '');
  else if (blocks.length === 0) return whole(output);
  return split(blocks.join('\n\n'), output.slice(start));
}

function tagsOf(output: string): Tag[] {
  const tags: Tag[] = [];
  for (let at = nextBracket(output, 0); at >= 0; at = nextBracket(output, at + 1)) {
    TAG.lastIndex = at;
    const match = TAG.exec(output);
    if (match === null) continue;
    const [text, slash = '', name, squareSlash = ''] = match;
    const isSquare = name === undefined;
    tags.push({
      name: isSquare ? '[think]' : name.toLowerCase(),
      isClosing: (isSquare ? squareSlash : slash) !== '',
      start: at,
      end: at + text.length,
    });
  }
  return tags;
}

function nextBracket(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 60 || code === 91) return at;
  }
  return -1;
}

/**
 * The last closing tag after `start` without its opening one.
 *
 * @param isOpen whether the block at `start` has no closing tag of its own: one of another name ends it
 */
function lastUnopened(output: string, tags: readonly Tag[], start: number, isOpen: boolean): Tag | undefined {
  const open = new Map<string, number>();
  let found: Tag | undefined;
  for (const tag of tags) {
    if (tag.start < start || (isOpen && tag.start === start)) continue;
    const depth = open.get(tag.name) ?? 0;
    if (!tag.isClosing) open.set(tag.name, depth + 1);
    else if (depth > 0) open.set(tag.name, depth - 1);
    else if (!isQuoted(output, tag)) found = tag;
  }
  return found;
}

/** Whether a tag is in quotes or in code on its line. */
function isQuoted(output: string, { start, end }: Tag): boolean {
  const isQuote = (character = ''): boolean => character !== '' && '`"\'“”‘’«»「」'.includes(character);
  if (isQuote(output[start - 1]) && isQuote(output[end])) return true;
  const before =
    output
      .slice(Math.max(0, start - 512), start)
      .split('\n')
      .at(-1) ?? '';
  const after = output.slice(end, end + 512).split('\n', 1)[0] ?? '';
  return before.split('`').length % 2 === 0 && after.includes('`');
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at] ?? '')) at += 1;
  return at;
}

function whole(output: JsonValue): SplitOutput {
  return { scored: output, reasoning: null, isOnlyReasoning: false };
}

function split(reasoning: string, answer: string): SplitOutput {
  const scored = answer.trim();
  return { scored, reasoning: reasoning.trim() || null, isOnlyReasoning: scored === '' };
}

const FENCE_LINE = /^[ \t]{0,3}(`{3,}|~{3,})[^`\n]*$/;

/** What is inside of a fenced block of Markdown, if the text is nothing but that block; else the text. */
export function unfenced(text: string): string {
  const lines = text.trim().split('\n');
  const fence = FENCE_LINE.exec((lines[0] ?? '').trimEnd())?.[1];
  if (fence === undefined || lines.length < 2) return text;
  const isClosing = (line: string): boolean => {
    const trimmed = line.trim();
    return trimmed.length >= fence.length && trimmed === (fence[0] ?? '').repeat(trimmed.length);
  };
  const close = lines.findIndex((line, index) => index > 0 && isClosing(line));
  return close === lines.length - 1 ? lines.slice(1, -1).join('\n').replace(/\r$/, '') : text;
}
