import { ActionIcon, Button } from '@mantine/core';
import type { ReactNode } from 'react';

/** A button of a page, a list or a form that does more than one thing. */
export const SmallButton = Button.withProps({ size: 'xs', variant: 'default' });

/** A small button with an icon in place of its label. */
export function IconButton({
  label,
  onClick,
  children,
}: {
  readonly label: string;
  readonly onClick: () => void;
  readonly children: ReactNode;
}) {
  return (
    <ActionIcon variant="default" size={30} aria-label={label} title={label} onClick={onClick}>
      {children}
    </ActionIcon>
  );
}
