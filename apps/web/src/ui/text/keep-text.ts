/** What this needs of the nodes of mdast. */
interface MarkdownNode {
  readonly type: string;
  readonly value?: string;
  readonly url?: string;
  readonly title?: string | null;
  readonly alt?: string | null;
  readonly checked?: boolean | null;
  readonly children?: readonly MarkdownNode[];
}

/** Members with text of the author. */
const TEXTS = ['value', 'url', 'title', 'alt'] as const;
/** Nodes whose children are blocks. */
const BLOCKS = new Set(['root', 'blockquote', 'listItem', 'footnoteDefinition']);
const LINE_BREAK = /^<br\s*\/?>$/i;
const MAX_SHOWN_URL = 200;

/**
 * A plugin of remark that loses nothing of the text: HTML, images and check marks become text, which is shown as it is
 * written, and the characters that stand for dollars become dollars again.
 *
 * @param options.dollar see `markMath`
 */
export function keepText({ dollar }: { readonly dollar: string }): (tree: MarkdownNode) => MarkdownNode {
  const keep = (node: MarkdownNode): MarkdownNode => {
    const { type, checked, children } = node;
    const texts = TEXTS.flatMap((name) => {
      const text = node[name];
      return typeof text === 'string' ? [[name, text.replaceAll(dollar, '$')]] : [];
    });
    const kept = children?.map((child) => keep(asText(child, BLOCKS.has(type))));
    const whole = { ...node, ...Object.fromEntries(texts), ...(kept && { children: kept }) };
    return typeof checked === 'boolean' ? withMark(whole, checked) : whole;
  };
  return keep;
}

/** An entry of a list with its check mark as text. */
function withMark(entry: MarkdownNode, checked: boolean): MarkdownNode {
  const [first, ...others] = entry.children ?? [];
  const mark = { type: 'text', value: checked ? '[x] ' : '[ ] ' };
  const marked = { ...(first ?? { type: 'paragraph' }), children: [mark, ...(first?.children ?? [])] };
  return { ...entry, checked: null, children: [marked, ...others] };
}

/** HTML and images as text; any other node as it is. */
function asText(node: MarkdownNode, isBlock: boolean): MarkdownNode {
  const { type, value = '', alt, url = '' } = node;
  if (type === 'image') return { type: 'text', value: `![${alt ?? ''}](${url.slice(0, MAX_SHOWN_URL)})` };
  if (type !== 'html') return node;
  if (!isBlock) return LINE_BREAK.test(value) ? { type: 'break' } : { type: 'text', value };
  const lines = value.split('\n').flatMap((line) => [{ type: 'break' }, { type: 'text', value: line }]);
  return { type: 'paragraph', children: lines.slice(1) };
}

/** A character that does not occur in a text, of those that have no meaning. */
export function unusedCharacter(text: string): string {
  let code = 0xe000;
  while (text.includes(String.fromCharCode(code))) code += 1;
  return String.fromCharCode(code);
}
