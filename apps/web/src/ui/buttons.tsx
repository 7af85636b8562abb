import {
  ActionIcon,
  type ActionIconProps,
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  type ElementProps,
  Menu,
} from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';

interface Labelled {
  readonly label: ReactNode;
  readonly icon?: IconName | undefined;
}

export const SmallButton = ({
  label,
  icon,
  opens = false,
  ...rest
}: Labelled &
  ButtonProps &
  ElementProps<'button', keyof ButtonProps> & {
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

export const TextButton = ({
  label,
  ...rest
}: AnchorProps & { readonly label: string; readonly title?: string; readonly onClick: () => void }) => (
  <Anchor component="button" type="button" size="sm" dir="auto" {...rest}>
    {label}
  </Anchor>
);

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

export function MenuButton(props: {
  readonly label: string;
  readonly icon: IconName;
  readonly isPending?: boolean;
  readonly children: ReactNode;
}) {
  const { label, icon, isPending = false, children } = props;
  return (
    // in the page, so that its landmarks contain the entries
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <SmallButton label={label} icon={icon} opens loading={isPending} />
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}

export function ExportMenu(props: {
  readonly label?: string;
  readonly note?: string | undefined;
  readonly children?: ReactNode;
  readonly files: readonly (readonly [label: string, address: string])[];
}) {
  const { files, label = 'Export', note, children } = props;
  return (
    <MenuButton label={label} icon="download">
      {note !== undefined && <Menu.Label>{note}</Menu.Label>}
      {children}
      {files.map(([label, address]) => (
        <Menu.Item key={address} component="a" href={address} download>
          {label}
        </Menu.Item>
      ))}
    </MenuButton>
  );
}

type Native<Props> = Props &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Props> & {
    readonly ref?: React.Ref<HTMLAnchorElement>;
  };

export const LinkButton = createLink(({ label, icon, ...rest }: Native<ButtonProps> & Labelled) => (
  <Button component="a" size="xs" leftSection={icon && <Icon name={icon} size={16} />} {...rest}>
    {label}
  </Button>
));

export const LinkAnchor = createLink((props: Native<AnchorProps>) => <Anchor {...props} />);

export const RunLink = ({
  id,
  label,
  ...search
}: {
  readonly id: string;
  readonly label: string;
  readonly result?: string;
}) => (
  <LinkAnchor to="/runs/$id" params={{ id }} search={search} size="sm">
    {label}
  </LinkAnchor>
);
