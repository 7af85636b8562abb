import { Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { MenuButton } from './menu-button.tsx';

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
  /** Further entries. */
  readonly children?: ReactNode;
  readonly files: readonly (readonly [label: string, address: string])[];
}) {
  return (
    <MenuButton label={label} icon={<IconDownload size={16} />}>
      {note !== undefined && <Menu.Label>{note}</Menu.Label>}
      {files.map(([label, address]) => (
        <Menu.Item key={address} component="a" href={address} download>
          {label}
        </Menu.Item>
      ))}
      {children}
    </MenuButton>
  );
}
