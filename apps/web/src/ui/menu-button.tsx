import { Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import type { IconName } from './icons.tsx';
import { SmallButton } from './small-button.tsx';

/** A button of a page that opens a menu; its children are the entries. */
export function MenuButton({
  label,
  icon,
  isPending = false,
  children,
}: {
  readonly label: string;
  readonly icon: IconName;
  readonly isPending?: boolean;
  readonly children: ReactNode;
}) {
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

/** A menu of files that the service makes of a dataset or a run. */
export function ExportMenu({
  files,
  label = 'Export',
  note,
  children,
}: {
  readonly label?: string;
  /** Says what the files have. */
  readonly note?: string | undefined;
  /** Entries of what the page makes. */
  readonly children?: ReactNode;
  readonly files: readonly (readonly [label: string, address: string])[];
}) {
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
