/** What this needs of the nodes of mdast. */
interface MarkdownNode {
  readonly type: string;
  readonly value?: string;
  readonly url?: string;
  readonly title?: string | null;
  readonly ordered?: boolean | null;
  readonly data?: object;
  readonly children?: readonly MarkdownNode[];
  readonly position?: {
    readonly start: { readonly offset?: number };
    readonly end: { readonly offset?: number };
  };
}

/** Constructs whose marks stay text: programs, formulas and comparisons have the same. */
const OFF = [
  ...['autolink', 'blockQuote', 'characterEscape', 'characterReference', 'definition', 'gfmFootnoteCall'],
  ...['gfmFootnoteDefinition', 'gfmPotentialFootnoteCall', 'hardBreakEscape', 'htmlFlow', 'htmlText'],
  ...['labelStartImage', 'setextUnderline', 'strikethrough', 'tasklistCheck', 'thematicBreak'],
];

const TEXTS = ['value', 'url', 'title'] as const;

/** A number, also with a currency or a short unit. */
const NUMBER = /^[^\p{L}\d]*\d[\d\s.,/:%^*+-]*\p{L}{0,3}[^\p{L}]*$/u;
/** What has no spaces around emphasis inside its sentences. */
const UNSPACED = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}]';
/** What may not touch emphasis or code from outside. */
const JOINED = `[\\p{N}\\p{Sc}\\p{Co}_\\\\*=+/^%<~\`]|(?!${UNSPACED})\\p{L}`;
const JOINED_BEFORE = new RegExp(`(?:${JOINED}|[!#@\\])}])$`, 'u');
const JOINED_AFTER = new RegExp(`^(?:${JOINED}|[([{])`, 'u');
const BEFORE_LINK = /[\p{L}\p{N}_!\])]$/u;
const WORDS = /^["'“‘«([¿¡]*[\p{L}\p{N}\p{Sc}`\p{Co}][^\n\r]*$/u;
const OPERAND = /[\p{N}\p{Sc}\p{Co}*=+/^%<>)(-]/u;
/** The text of an entry of a list that begins with a word, whose bullet can be no sign of arithmetic. */
const ENTRY = /^[-*][ \t]+(?:\*\*|`|\[)?\p{L}{2}/u;

/**
 * A plugin of remark that takes away marks only where they surely are Markdown: of fences, headings, lists of two lines or
 * more, tables, `**words**`, code, links to other hosts, and formulas. All else is shown as it is written, numbers of
 * lists too; a text without any of these is one paragraph with its own white space. The characters that stand for dollars
 * become dollars again.
 *
 * @param options.dollar see `markMath`
 */
export function sureMarkdown(
  this: { readonly data: () => object },
  { dollar }: { readonly dollar: string },
): (tree: MarkdownNode, file: { toString(): string }) => MarkdownNode {
  const data = this.data() as { micromarkExtensions?: readonly unknown[] };
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), { disable: { null: OFF } }];
  return (tree, file) => {
    const source = String(file);
    const withDollars = (node: MarkdownNode): MarkdownNode => {
      const texts = TEXTS.flatMap((name) => {
        const text = node[name];
        return typeof text === 'string' ? [[name, text.replaceAll(dollar, '$')]] : [];
      });
      return { ...node, ...Object.fromEntries(texts) };
    };
    // not of the type `text`, which would lose white space at line breaks
    const text = (value: string): MarkdownNode => withDollars({ type: 'written', value });
    let isSure = false;
    const surely = (node: MarkdownNode): readonly MarkdownNode[] => {
      isSure = true;
      return [node];
    };

    const read = (node: MarkdownNode, isInList = false): readonly MarkdownNode[] => {
      const { type, position } = node;
      const [start = 0, end = start] = [position?.start.offset, position?.end.offset];
      const written = source.slice(start, end);
      if (type === 'list') return list(node, isInList || entriesOf(node) > 1);
      const children = node.children?.flatMap((child) => read(child, isInList));
      const kept = withDollars({ ...node, ...(children && { children }) });
      const marked = (marks: string) => [text(marks), ...(children ?? []), text(marks)];
      switch (type) {
        case 'text':
          return isInList || written === '' ? [kept] : [text(written)];
        case 'heading':
          return isHeading(source, start, end) ? surely(kept) : [paragraph(text(written))];
        case 'table':
          return isTable(node, written) ? surely(kept) : [paragraph(text(written))];
        case 'code':
          return /^[`~]/.test(written) ? surely(kept) : [kept];
        case 'math':
        case 'inlineMath':
          return surely(formula(node));
        case 'strong':
          return isStrong(source, start, end) ? surely(kept) : marked(written.slice(0, 2));
        case 'emphasis':
          return marked(written.slice(0, 1));
        case 'inlineCode':
          return /[\n\r]/.test(written) || touches(source, start, end) ? [text(written)] : [kept];
        case 'link':
          if (!written.startsWith('[')) return [kept];
          return /^(?:https?:\/\/|mailto:)/i.test(node.url ?? '') &&
            !BEFORE_LINK.test(source.slice(Math.max(0, start - 2), start))
            ? surely(kept)
            : [text(written)];
        default:
          return [kept];
      }
    };

    /** A formula with the marks around it, which is text where it cannot be drawn. */
    const formula = ({ type, value = '' }: MarkdownNode): MarkdownNode => {
      const [className, dollars, open, close] =
        type === 'math' ? ['math-display', '$$', '\\[', '\\]'] : ['math-inline', '$', '\\(', '\\)'];
      const written = value.startsWith(dollar)
        ? open + value.slice(dollar.length) + close
        : dollars + value + dollars;
      const hProperties = { className: [className] };
      return { type, data: { hName: 'code', hProperties, hChildren: [{ type: 'text', value: written }] } };
    };

    const list = (node: MarkdownNode, isList: boolean): readonly MarkdownNode[] => {
      const entries = node.children ?? [];
      const startOf = (one: MarkdownNode | undefined): number | undefined => one?.position?.start.offset;
      const isBulleted =
        node.ordered !== true && entries.every((one) => ENTRY.test(source.slice(startOf(one))));
      const listed = entries.map((entry) => {
        const { children = [], position } = entry;
        const mark = source.slice(startOf(entry), startOf(children[0]) ?? position?.end.offset);
        const blocks = children.flatMap((child) => read(child, isList));
        if (isList && isBulleted) return { ...entry, children: blocks };
        const [first, others] =
          blocks[0]?.type === 'paragraph' ? [blocks[0], blocks.slice(1)] : [null, blocks];
        return { ...entry, children: [paragraph(text(mark), ...(first?.children ?? [])), ...others] };
      });
      if (!isList) return listed.flatMap(({ children }) => children);
      const data = isBulleted ? {} : { data: { hProperties: { className: ['written-marks'] } } };
      return surely({ ...node, ...data, children: listed });
    };

    const children = (tree.children ?? []).flatMap((child) => read(child));
    if (isSure) return { ...tree, children };
    return { ...tree, children: [paragraph(text(source))] };
  };
}

const paragraph = (...children: readonly MarkdownNode[]): MarkdownNode => ({ type: 'paragraph', children });

/** Entries of a list, with the entries of lists inside it. */
const entriesOf = ({ type, children = [] }: MarkdownNode): number =>
  children.reduce((sum, child) => sum + entriesOf(child), type === 'listItem' ? 1 : 0);

/** A line of hashes and a number is an answer, and one with a single hash between other lines a comment of a program. */
function isHeading(source: string, start: number, end: number): boolean {
  const [, hashes = '', title = ''] = /^(#+)[ \t]+(.*)$/s.exec(source.slice(start, end)) ?? [];
  const before = source.slice(Math.max(0, start - 20), start);
  return (
    /(?:^|[\n\r])[ \t]*$/.test(before) &&
    /\p{L}{2}/u.test(title) &&
    !NUMBER.test(title) &&
    !/[ \t]#+\s*$/.test(title) &&
    (hashes.length > 1 ||
      (/^\s*$|\n[ \t]*\r?\n[ \t]*$/.test(before) &&
        /^\s*$|^[ \t]*\r?\n[ \t]*\r?\n/.test(source.slice(end, end + 20))))
  );
}

/** Whether all cells of a table are shown: cells beyond its columns are not. */
function isTable({ children = [] }: MarkdownNode, written: string): boolean {
  const [, delimiters = ''] = written.split('\n', 2);
  const columns = children[0]?.children?.length ?? 0;
  return delimiters.includes('|') && children.every((row) => (row.children?.length ?? 0) <= columns);
}

/** Whether something goes on right before or after a part of the text. */
const touches = (source: string, start: number, end: number): boolean =>
  JOINED_BEFORE.test(source.slice(Math.max(0, start - 2), start)) ||
  JOINED_AFTER.test(source.slice(end, end + 2));

/** Whether two asterisks are around words, and not around operands. */
function isStrong(source: string, start: number, end: number): boolean {
  const words = source.slice(start + 2, end - 2);
  if (source[start] !== '*' || !WORDS.test(words) || touches(source, start, end)) return false;
  const before = source.slice(Math.max(0, start - 20), start).trimEnd();
  const after = source.slice(end, end + 20).trimStart();
  return /\p{L}{2}/u.test(words) || !(OPERAND.test(before.slice(-1)) && OPERAND.test(after.slice(0, 1)));
}

export function unusedCharacter(text: string): string {
  let code = 0xe000;
  while (text.includes(String.fromCharCode(code))) code += 1;
  return String.fromCharCode(code);
}
