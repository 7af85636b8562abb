import {
  ActionIcon,
  type ActionIconProps,
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  type ElementProps,
} from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';

/** What a button says, with an icon before it. */
export interface Labelled {
  readonly label: ReactNode;
  readonly icon?: IconName | undefined;
}

/** A button of a page, a list or a form that does more than one thing. */
export const SmallButton = ({
  label,
  icon,
  opens = false,
  ...rest
}: Labelled &
  ButtonProps &
  ElementProps<'button', keyof ButtonProps> & {
    /** Whether it opens a menu or fields. */
    readonly opens?: boolean;
  }) => (
  <Button
    size="xs"
    variant="default"
    leftSection={icon && <Icon name={icon} size={16} />}
    rightSection={opens && <Icon name="chevronDown" size={14} />}
    {...rest}
  >
    {label}
  </Button>
);

/** A button in a cell of a table that looks like a link. */
export const TextButton = ({
  label,
  ...rest
}: AnchorProps & { readonly label: string; readonly title?: string; readonly onClick: () => void }) => (
  <Anchor component="button" type="button" size="sm" dir="auto" {...rest}>
    {label}
  </Anchor>
);

/** A small button with an icon in place of its label. */
export const IconButton = ({
  label,
  icon,
  ...rest
}: {
  readonly label: string;
  readonly icon?: IconName;
  readonly onClick: () => void;
  readonly children?: ReactNode;
} & Pick<ActionIconProps, 'variant' | 'color' | 'size'>) => (
  <ActionIcon variant="default" size={30} aria-label={label} title={label} {...rest}>
    {icon === undefined ? rest.children : <Icon name={icon} size={16} />}
  </ActionIcon>
);
