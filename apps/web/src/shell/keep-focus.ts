import { useEffect } from 'react';

/** Gives the focus to what is nearest where the element that has it is taken from the page: it never falls to the body. */
export function useKeepFocus(): void {
  useEffect(() => {
    const leaving = new AbortController();
    let focused: Element | null = null;
    let around: readonly Element[] = [];
    document.addEventListener(
      'focusin',
      ({ target }) => {
        if (!(target instanceof Element)) return;
        focused = target;
        around = [...ancestorsOf(target)];
      },
      { signal: leaving.signal },
    );
    const observer = new MutationObserver(() => {
      if (focused === null || focused.isConnected || document.activeElement !== document.body) return;
      focused = null;
      nearest(around)?.focus({ preventScroll: true });
    });
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      leaving.abort();
    };
  }, []);
}

function* ancestorsOf(element: Element): Generator<Element> {
  for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) yield parent;
}

const LIST = '[role=grid][tabindex]';

/** A list next to where the focus was, else the heading of the page. */
function nearest(around: readonly Element[]): HTMLElement | null {
  const main = document.querySelector('main');
  for (const element of around) {
    if (element === main) break;
    const list = element.isConnected ? element.querySelector<HTMLElement>(LIST) : null;
    if (list !== null) return list;
  }
  return document.querySelector<HTMLElement>('h1[tabindex]');
}
