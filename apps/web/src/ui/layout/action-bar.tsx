import { Group } from '@mantine/core';
import type { ReactNode } from 'react';
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
