import { ActionIcon, type ActionIconProps, Button } from '@mantine/core';
import type { ReactNode } from 'react';

/** A button of a page, a list or a form that does more than one thing. */
export const SmallButton = Button.withProps({ size: 'xs', variant: 'default' });

/** A small button with an icon in place of its label. */
export const IconButton = ({
  label,
  ...rest
}: {
  readonly label: string;
  readonly onClick: () => void;
  readonly children: ReactNode;
} & Pick<ActionIconProps, 'variant' | 'color' | 'size'>) => (
  <ActionIcon variant="default" size={30} aria-label={label} title={label} {...rest} />
);
