import { Box } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';

/** A message that scrolls into view when it appears, and when it changes to another one. */
export function InView({ state, children }: { readonly state: string; readonly children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each state is another message
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [state]);
  return <Box ref={box}>{children}</Box>;
}
