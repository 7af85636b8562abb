import katex from 'katex';
import { isValidElement, type ReactNode, useEffect, useRef } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import remarkMath from 'remark-math';
import { markMath } from './mark-math.ts';
import { sureMarkdown, unusedCharacter } from './sure-markdown.ts';
import 'katex/dist/katex.min.css';
import { onDemand } from '../query-state.tsx';

const CodeText = onDemand(
  () => import('./code-text.tsx'),
  ({ children }) => <pre>{children}</pre>,
);

const WRITTEN_MARKS: [string, string] = ['className', 'written-marks'];

/** What Markdown may become: no HTML of the text itself, no images, which would send requests: they stay text. */
const SCHEMA = {
  ...defaultSchema,
  tagNames: defaultSchema.tagNames?.filter((name) => !['img', 'picture', 'source', 'input'].includes(name)),
  attributes: {
    ...defaultSchema.attributes,
    code: [['className', /^language-./, 'math-inline', 'math-display']],
    ...{ ol: [WRITTEN_MARKS], ul: [WRITTEN_MARKS] },
  },
  protocols: { ...defaultSchema.protocols, href: ['http', 'https', 'mailto'] },
} as typeof defaultSchema;

const DIRECTED = Object.fromEntries(
  (['p', 'li', 'td', 'th', 'blockquote', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'] as const).map((Tag) => [
    Tag,
    ({ children }: { readonly children?: ReactNode }) => <Tag dir="auto">{children}</Tag>,
  ]),
) as Components;

interface CodeProps {
  readonly className?: string;
  readonly children?: ReactNode;
}

/** Markdown with LaTeX, sanitised. Links open elsewhere and tell nothing about this page. */
export default function Markdown({ text }: { readonly text: string }) {
  const dollar = unusedCharacter(text);
  return (
    <div className="prose">
      <ReactMarkdown
        remarkPlugins={[remarkGfm, remarkMath, [sureMarkdown, { dollar }]]}
        rehypePlugins={[[rehypeSanitize, SCHEMA]]}
        components={{
          ...DIRECTED,
          code: ({ className = '', children }) => {
            const kind = /math-(inline|display)/.exec(className)?.[1];
            if (kind === undefined) return <code className={className}>{children}</code>;
            return <Formula written={String(children)} isBlock={kind === 'display'} />;
          },
          pre: ({ children }) => {
            const { children: code } = isValidElement<CodeProps>(children) ? children.props : {};
            return <CodeText text={String(code ?? '').replace(/\n$/, '')}>{children}</CodeText>;
          },
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noopener noreferrer nofollow">
              {children}
            </a>
          ),
        }}
      >
        {markMath(text, dollar)}
      </ReactMarkdown>
    </div>
  );
}

/** `maxExpand` and `maxSize` bound the cost of an untrusted formula; commands that could link are off. */
const OPTIONS = { strict: false, trust: false, maxExpand: 200, maxSize: 20, throwOnError: true } as const;

/** Longer formulas stay text. */
const MAX_LENGTH = 2_000;

const MARKS = /^(?:\$\$?|\\[([])|(?:\$\$?|\\[)\]])$/g;

/**
 * A LaTeX formula with its marks, laid out through the DOM, so that the policy of the page need not allow inline styles. An
 * invalid one is shown as it was written.
 */
function Formula({ written, isBlock }: { readonly written: string; readonly isBlock: boolean }) {
  const element = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (element.current === null) return;
    element.current.textContent = written;
    if (written.length > MAX_LENGTH) return;
    try {
      katex.render(written.replaceAll(MARKS, ''), element.current, { ...OPTIONS, displayMode: isBlock });
    } catch {
      element.current.textContent = written;
    }
  }, [written, isBlock]);
  return <span ref={element} className={isBlock ? 'math-block' : undefined} />;
}
