import { Alert, Button, Card, FileButton, Grid, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { useEffect, useState } from 'react';
import { ItemPreview } from '../mapping/mapping-panes.tsx';
import { useDroppedFiles } from '../shell/drop-anywhere.tsx';
import { SmallButton } from '../ui/buttons.tsx';
import { Icon } from '../ui/icons.tsx';
import { NameValues } from '../ui/layout/name-values.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PageSkeleton, Places } from '../ui/query-state.tsx';
import { CopyText } from '../ui/text/copy-action.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatBytes, formatCount } from '../ui/text/formats.ts';
import type { Inspection } from './inspect-file.ts';
import { SendForm } from './send-form.tsx';
import { TableUpload } from './table-upload.tsx';

/** Uploads files: they are opened in the browser before anything is sent, and tables are mapped. */
export default function UploadPage() {
  const [dropped, setDropped] = useDroppedFiles();
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
            <Icon name="file" size={18} aria-hidden />
            <Text size="sm" fw={600} className="break">
              {files.map(({ name }) => name).join(', ')}
            </Text>
            <Dimmed>{formatBytes(files.reduce((sum, { size }) => sum + size, 0))}</Dimmed>
            <SmallButton label="Choose another file" size="compact-xs" onClick={() => setFiles([])} />
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

function FileChoice({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  return (
    <Card withBorder padding="xl" className="drop-card">
      <Stack align="center" gap="sm">
        <Icon name="upload" size={32} aria-hidden />
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

function useInspection(file: File | undefined): Inspection | null {
  const [inspection, setInspection] = useState<Inspection | null>(null);
  useEffect(() => {
    setInspection(null);
    if (file === undefined) return;
    const worker = new Worker(new URL('./inspect-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<Inspection>) => setInspection(data));
    worker.addEventListener('error', () =>
      setInspection(() => {
        throw new Error('What opens files cannot be loaded.');
      }),
    );
    worker.postMessage(file);
    return () => worker.terminate();
  }, [file]);
  return inspection;
}

function ItemsUpload(props: { readonly files: readonly File[]; readonly inspection: Inspection }) {
  const { files, inspection } = props;
  if (inspection.state === 'reading')
    return (
      <Text role="status">
        <Loader size="xs" mr="xs" />
        Reading: {formatCount(inspection.items)} items so far
      </Text>
    );
  const { errors, errorsTotal, sections, items, versionHash, first } = inspection;
  const isSingle = files.length === 1;
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack>
          {errors.length > 0 && (
            <Alert color="red" title="The service would refuse this file">
              <Places errors={errors} total={errorsTotal} />
            </Alert>
          )}
          {isSingle && versionHash !== null && (
            <NameValues
              rows={[
                ['Items', formatCount(items)],
                ['Sections', sectionsText(sections)],
                ['Version hash', <CopyText key="hash" text={versionHash} length={16} label="version hash" />],
              ]}
            />
          )}
          <SendForm
            files={files}
            expectedHash={isSingle ? versionHash : null}
            isRefused={errors.length > 0}
          />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Title order={2} size="h5" mb="xs">
          First items
        </Title>
        <ItemPreview rows={first.map((text, row): JsonObject => ({ row, item: parseJson(text) }))} />
      </Grid.Col>
    </Grid>
  );
}

const MAX_SECTIONS = 20;

/** Names of sections with their counts; of many, the first ones. */
function sectionsText(sections: Extract<Inspection, { readonly state: 'read' }>['sections']): string {
  const names = sections
    .slice(0, MAX_SECTIONS)
    .map(({ name, itemCount }) => `${name} (${formatCount(itemCount)})`);
  const others = sections.length - names.length;
  return `${names.join(', ')}${others === 0 ? '' : ` and ${others} more`}`;
}
