export interface SplitOutput {
  /** What the model thought before it answered, without its outer tags; null without any. */
  readonly reasoning: string | null;
  /** What follows it, without white space around; all of the output if nothing comes before it. */
  readonly text: string;
}

/**
 * Splits an output into its reasoning and what follows, in linear time. Reasoning is
 *
 * - blocks in `<think>`, `<thinking>`, `<thought>`, `<reasoning>` or `[THINK]` that begin the output; one that is never
 *   closed leaves no text;
 * - everything up to the last closing tag, if one has no opening tag: the template of the model opened it;
 * - what stands before the last `<|channel|>final<|message|>` of an output in the Harmony format (gpt-oss).
 *
 * Tags in the middle of an answer, in its code or in quotes, are text.
 *
 * @example
 * splitReasoning('<think>Paris?</think>\n\nRome'); // { reasoning: 'Paris?', text: 'Rome' }
 */
export function splitReasoning(output: string): SplitOutput {
  return splitHarmony(output) ?? splitTags(output);
}

const FINAL =
  /(?:<\|start\|>assistant)?<\|channel\|>final[^<]{0,64}(?:<\|constrain\|>[^<]{0,64})?<\|message\|>/g;
/** Markers with what names a message, such as `<|start|>assistant`. */
const MARKERS = /<\|(?:start|channel|constrain)\|>[^<]{0,64}|<\|(?:message|end|return|call)\|>/g;
const END = /<\|(?:start|end|return|call)\|>/;

/** Null for an output in another format. */
function splitHarmony(output: string): SplitOutput | null {
  const isHarmony = /^\s*(?:<\|(?:channel|start)\|>|(?:analysis|commentary)<\|message\|>)/.test(output);
  const final = [...output.matchAll(FINAL)].findLast(([found]) => isHarmony || found.startsWith('<|start|>'));
  if (final === undefined && !isHarmony) return null;
  const start = final?.index ?? output.length;
  const [text = ''] = output.slice(start + (final?.[0].length ?? 0)).split(END, 1);
  const before = output.slice(0, start).replace(/^\s*(?:analysis|commentary)(?=<\|)/, '');
  return { reasoning: before.replace(MARKERS, '').trim(), text: text.trim() };
}

function splitTags(output: string): SplitOutput {
  const tags = tagsOf(output);
  const parts: string[] = [];
  let at = 0;
  for (let next = 0; ; ) {
    const opening = beginsWith(output, at, tags[next]) ? tags[next] : undefined;
    const own = opening === undefined ? -1 : closingOf(tags, next, opening.name);
    const closing = own === -1 ? lastUnopened(tags, next) : own;
    const end = tags[closing];
    if (opening === undefined && end === undefined) break;
    parts.push(output.slice(opening?.end ?? at, end?.start).trim());
    at = end?.end ?? output.length;
    if (end === undefined) break;
    next = closing + 1;
  }
  if (parts.length === 0) return { reasoning: null, text: output };
  return { reasoning: parts.filter((part) => part !== '').join('\n\n'), text: output.slice(at).trim() };
}

interface Tag {
  readonly name: string;
  readonly isClosing: boolean;
  readonly start: number;
  readonly end: number;
}

const TAGS = /<(?<slash>\/?)(?<name>think|thinking|thought|reasoning)(?:\s[^<>]*)?>|\[(?<end>\/?)THINK\]/gi;
/** A line that opens or closes a block of code, code in a line, a quoted tag, or a tag as in {@link TAGS}. */
const CODE_OR_TAGS =
  /^[ \t]*(?<fence>`{3,}[^`\n]*|~{3,}[^\n]*)$|(?<!`)`+[^`\n]+`|(?<![^\s(])["'“‘„«「](?:<\/?(?:think|thinking|thought|reasoning)>|\[\/?THINK\])["'”’“»」]|<(?<slash>\/?)(?<name>think|thinking|thought|reasoning)(?:\s[^<>]*)?>|\[(?<end>\/?)THINK\]/gim;

/** The tags of an output except in code or quotes, unless only these close a block that begins it. */
function tagsOf(output: string): readonly Tag[] {
  const tags: Tag[] = [];
  let outside: number | null = null;
  for (const match of output.matchAll(CODE_OR_TAGS)) {
    const tag = tagOf(match);
    if (tag !== null) tags.push(tag);
    else if (match.groups?.['fence'] !== undefined) {
      // A fence that nothing closes begins no code.
      if (outside !== null) tags.length = outside;
      outside = outside === null ? tags.length : null;
    }
  }
  const isOpened = /^\s*[<[]/.test(output) && !tags.some(({ isClosing }) => isClosing);
  return isOpened ? Array.from(output.matchAll(TAGS), tagOf).filter((tag) => tag !== null) : tags;
}

function tagOf({ 0: text, index, groups }: RegExpExecArray): Tag | null {
  const { slash, name, end } = groups ?? {};
  if (slash === undefined && end === undefined) return null;
  return {
    name: name?.toLowerCase() ?? '[]',
    isClosing: (slash ?? end) !== '',
    start: index,
    end: index + text.length,
  };
}

function beginsWith(output: string, at: number, tag: Tag | undefined): boolean {
  return tag !== undefined && !tag.isClosing && output.slice(at, tag.start).trim() === '';
}

function closingOf(tags: readonly Tag[], from: number, name: string): number {
  for (let index = from + 1; index < tags.length; index++) {
    if (tags[index]?.isClosing === true && tags[index]?.name === name) return index;
  }
  return -1;
}

/** The index of the last closing tag of a name that was once closed without being opened; -1 without one. */
function lastUnopened(tags: readonly Tag[], from: number): number {
  const open = new Map<string, number>();
  const unopened = new Set<string>();
  let last = -1;
  for (let index = from; index < tags.length; index++) {
    const { name, isClosing } = tags[index] as Tag;
    const depth = (open.get(name) ?? 0) + (isClosing ? -1 : 1);
    if (depth < 0) unopened.add(name);
    open.set(name, Math.max(0, depth));
    if (isClosing && unopened.has(name)) last = index;
  }
  return last;
}
