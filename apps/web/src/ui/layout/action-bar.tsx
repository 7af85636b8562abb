import { Group } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { Dimmed } from '../text/dimmed.ts';

/** The buttons of a long form, which stay at the bottom of the window, and what is missing before they can be pressed. */
export function ActionBar({
  missing,
  children,
}: {
  readonly missing: string | null;
  readonly children: ReactNode;
}) {
  return (
    <Group className="action-bar" gap="sm">
      {children}
      {missing !== null && <Dimmed flex="1 1 160px">{missing}</Dimmed>}
    </Group>
  );
}

/** What an action leads to, below its button: scrolled into the window when it appears, changes or grows. */
export function InView({ state, children }: { readonly state: string; readonly children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each state is shown
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let height = 0;
    const observer = new ResizeObserver(() => {
      if (element.offsetHeight > height) element.scrollIntoView({ block: 'nearest' });
      height = element.offsetHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [state]);
  return <div ref={box}>{children}</div>;
}
