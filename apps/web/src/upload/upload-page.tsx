import { Button, Group, Stack, Text } from '@mantine/core';
import { IconFile } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useDroppedFiles } from '../shell/dropped-files.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatBytes } from '../ui/text/formats.ts';
import { FileChoice } from './file-choice.tsx';
import { ItemsUpload } from './items-upload.tsx';
import { TableUpload } from './table-upload.tsx';
import { useInspection } from './use-inspection.ts';

/** Uploads files: they are opened in the browser before anything is sent, and tables are mapped. */
export default function UploadPage() {
  const { files: dropped, setFiles: setDropped } = useDroppedFiles();
  const [files, setFiles] = useState<readonly File[]>([]);
  useEffect(() => {
    if (dropped.length === 0) return;
    setFiles(dropped);
    setDropped([]);
  }, [dropped, setDropped]);
  const inspection = useInspection(files[0]);
  const key = files.map(({ name, size, lastModified }) => `${name} ${size} ${lastModified}`).join('|');
  return (
    <Page
      title="Upload"
      subtitle="Packages, items as JSON Lines, or tables: CSV, TSV, JSON, JSON Lines, Parquet."
    >
      {files.length === 0 ? (
        <FileChoice onFiles={setFiles} />
      ) : (
        <Stack>
          <Group gap="xs">
            <IconFile size={18} aria-hidden />
            <Text size="sm" fw={600} className="break">
              {files.map(({ name }) => name).join(', ')}
            </Text>
            <Dimmed>{formatBytes(files.reduce((sum, { size }) => sum + size, 0))}</Dimmed>
            <Button size="compact-xs" variant="default" onClick={() => setFiles([])}>
              Choose another file
            </Button>
          </Group>
          {inspection === null && <PageSkeleton rows={3} />}
          {inspection !== null &&
            (inspection.kind === 'table' ? (
              <TableUpload key={key} files={files} />
            ) : (
              <ItemsUpload key={key} files={files} inspection={inspection} />
            ))}
        </Stack>
      )}
    </Page>
  );
}
