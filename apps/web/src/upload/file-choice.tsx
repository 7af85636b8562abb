import { Button, Card, FileButton, Stack, Text } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { Dimmed } from '../ui/text/dimmed.ts';

/** Asks for files. They can also be dropped on any page. */
export function FileChoice({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  return (
    <Card withBorder padding="xl" className="drop-card">
      <Stack align="center" gap="sm">
        <IconUpload size={32} aria-hidden />
        <Text>Drop files anywhere on this page</Text>
        <FileButton onChange={(files) => onFiles(files)} multiple inputProps={{ 'aria-label': 'Files' }}>
          {(props) => <Button {...props}>Choose files</Button>}
        </FileButton>
        <Dimmed ta="center">
          The browser opens packages and items before they are sent. A table is sent for its preview, which
          stores nothing.
        </Dimmed>
      </Stack>
    </Card>
  );
}
