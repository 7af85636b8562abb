import 'katex/dist/katex.min.css';
import ReactMarkdown from 'react-markdown';
import rehypeKatex from 'rehype-katex';
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import remarkMath from 'remark-math';

/** What Markdown may become: no HTML of the text itself, no images, which would send requests. */
const SCHEMA = {
  ...defaultSchema,
  tagNames: defaultSchema.tagNames?.filter((name) => !['img', 'picture', 'source', 'input'].includes(name)),
  attributes: {
    ...defaultSchema.attributes,
    code: [['className', /^language-./, 'math-inline', 'math-display']],
  },
  protocols: { ...defaultSchema.protocols, href: ['http', 'https', 'mailto'] },
} as typeof defaultSchema;

/** `maxExpand` and `maxSize` bound what a formula of a stranger can cost. */
const KATEX = { strict: false, trust: false, maxExpand: 200, maxSize: 20, throwOnError: false } as const;

/** Markdown with LaTeX, sanitised before formulas are laid out. Links open elsewhere and tell nothing about this page. */
export default function Markdown({ text }: { readonly text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown
        skipHtml
        remarkPlugins={[remarkGfm, remarkMath]}
        rehypePlugins={[
          [rehypeSanitize, SCHEMA],
          [rehypeKatex, KATEX],
        ]}
        components={{
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noopener noreferrer nofollow">
              {children}
            </a>
          ),
        }}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}
