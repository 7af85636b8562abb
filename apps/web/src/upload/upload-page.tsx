import { Button, Card, FileButton, Group, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useDroppedFiles } from '../shell/drop-anywhere.tsx';
import { IconFile, IconUpload } from '../ui/icons.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatBytes } from '../ui/text/formats.ts';
import type { Inspection } from './inspect-types.ts';
import { ItemsUpload } from './items-upload.tsx';
import { TableUpload } from './table-upload.tsx';

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

/** Asks for files. They can also be dropped on any page. */
function FileChoice({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
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

/** Opens a file in a worker and tells what is in it; null until the first answer. */
function useInspection(file: File | undefined): Inspection | null {
  const [inspection, setInspection] = useState<Inspection | null>(null);
  useEffect(() => {
    setInspection(null);
    if (file === undefined) return;
    const worker = new Worker(new URL('./inspect-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<Inspection>) => setInspection(data));
    worker.postMessage(file);
    return () => worker.terminate();
  }, [file]);
  return inspection;
}
