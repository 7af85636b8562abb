import 'katex/dist/katex.min.css';
import katex from 'katex';
import { useEffect, useRef } from 'react';

/** `maxExpand` and `maxSize` bound the cost of an untrusted formula; commands that could link are off. */
const OPTIONS = { strict: false, trust: false, maxExpand: 200, maxSize: 20, throwOnError: true } as const;

/** Longer formulas stay text. */
const MAX_LENGTH = 2_000;

/** Marks around a formula. */
const MARKS = /^(?:\$\$?|\\[([])|(?:\$\$?|\\[)\]])$/g;

/**
 * A LaTeX formula with its marks, laid out through the DOM, so that the policy of the page need not allow inline styles. An
 * invalid one is shown as it was written.
 */
export function Formula({ written, isBlock }: { readonly written: string; readonly isBlock: boolean }) {
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
