import 'katex/dist/katex.min.css';
import katex from 'katex';
import { useEffect, useRef } from 'react';

/** `maxExpand` and `maxSize` bound the cost of an untrusted formula; commands that could link are off. */
const OPTIONS = { strict: false, trust: false, maxExpand: 200, maxSize: 20, throwOnError: true } as const;

/** Longer formulas stay text. */
const MAX_LENGTH = 2_000;

/** A LaTeX formula, laid out through the DOM, so that the policy of the page need not allow inline styles. */
export function Formula({ tex, isBlock }: { readonly tex: string; readonly isBlock: boolean }) {
  const element = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (element.current === null) return;
    element.current.textContent = tex;
    if (tex.length > MAX_LENGTH) return;
    try {
      katex.render(tex, element.current, { ...OPTIONS, displayMode: isBlock });
    } catch {
      // an invalid formula is shown as it was written
      element.current.textContent = tex;
    }
  }, [tex, isBlock]);
  return <span ref={element} className={isBlock ? 'math-block' : undefined} />;
}
