import { Button, Menu } from '@mantine/core';
import { IconChevronDown, IconDownload } from '@tabler/icons-react';

/** A menu of files that the service makes of a dataset or a run. */
export function ExportMenu({
  files,
}: {
  readonly files: readonly (readonly [label: string, address: string])[];
}) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={16} />}
          rightSection={<IconChevronDown size={14} />}
        >
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {files.map(([label, address]) => (
          <Menu.Item key={address} component="a" href={address} download>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
