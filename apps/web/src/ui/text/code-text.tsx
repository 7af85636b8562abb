import bash from 'highlight.js/lib/languages/bash';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import xml from 'highlight.js/lib/languages/xml';
import { createLowlight } from 'lowlight';
import { type ReactNode, useMemo } from 'react';

/** Longer code stays without colours: each language reads all of it. */
const MAX_HIGHLIGHTED = 10_000;

const LANGUAGES = { bash, javascript, json, python, sql, xml };

/** What this needs of the nodes of hast. */
interface CodeNode {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: unknown };
  readonly children?: readonly CodeNode[];
}

/** Code with its lines and indentation, highlighted in the language that it looks most like. */
export default function CodeText({ text }: { readonly text: string; readonly children?: ReactNode }) {
  const nodes = useMemo(
    () =>
      text.length > MAX_HIGHLIGHTED
        ? null
        : (createLowlight(LANGUAGES).highlightAuto(text).children as readonly CodeNode[]),
    [text],
  );
  return (
    <pre className="pre code" dir="ltr">
      <code>{nodes === null ? text : nodes.map(render)}</code>
    </pre>
  );
}

function render({ value, properties, children = [] }: CodeNode, key: number): ReactNode {
  if (value !== undefined) return value;
  const { className } = properties ?? {};
  return (
    <span key={key} className={Array.isArray(className) ? className.join(' ') : undefined}>
      {children.map(render)}
    </span>
  );
}
