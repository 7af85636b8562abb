import { Alert, Button, Group, Progress, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { ErrorView } from '../ui/error-view.tsx';
import { type Field, Fields } from '../ui/form/fields.tsx';
import { LeaveDialog } from '../ui/form/leave-dialog.tsx';
import { ActionBar, InView } from '../ui/layout/action-bar.tsx';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { CopyText } from '../ui/text/copy-action.tsx';
import { formatBytes, formatCountOf } from '../ui/text/formats.ts';
import { type Uploaded, useUpload } from './use-upload.ts';

const FIELDS: readonly Field[] = [
  {
    name: 'name',
    label: 'Name',
    description: 'By default that of the package or the file',
    maxLength: 255,
  },
  {
    name: 'handle',
    label: 'Handle',
    description: 'Optional: a short name for programs, such as gsm8k-test',
    maxLength: 96,
  },
];

/** Names the dataset, sends the files with their progress, and compares the hash of the service with the expected one. */
export function SendForm({
  files,
  mapping,
  expectedHash,
  missing = null,
  isRefused = false,
  convert,
}: {
  readonly files: readonly File[];
  /** Column mapping of a table, as JSON text. */
  readonly mapping?: string | undefined;
  /** What the browser computed; null if it cannot. */
  readonly expectedHash: string | null;
  /** What is missing before they can be sent. */
  readonly missing?: string | null;
  /** Whether the browser found errors for which the service, which decides, would refuse them. */
  readonly isRefused?: boolean;
  /** Converts an archive of an older format. */
  readonly convert?: boolean;
}) {
  const form = useForm({ initialValues: { name: '', handle: '' } });
  const { name, handle } = form.values;
  const { upload, start, cancel } = useUpload();
  const isRunning = upload.state === 'sending' || upload.state === 'storing';
  return (
    <>
      <Fields form={form} fields={FIELDS} />
      <ActionBar missing={missing}>
        <Button
          variant={isRefused ? 'default' : 'filled'}
          disabled={missing !== null || isRunning || upload.state === 'stored'}
          loading={upload.state === 'storing'}
          onClick={() => start({ files, name, handle: handle.trim(), mapping, convert })}
        >
          {upload.state === 'failed'
            ? 'Try again'
            : isRefused
              ? 'Upload anyway'
              : convert === true
                ? 'Convert and upload'
                : 'Upload'}
        </Button>
        {isRunning && (
          <Button variant="default" onClick={cancel}>
            Cancel
          </Button>
        )}
      </ActionBar>
      {isRunning && (
        <LeaveDialog
          title="Leave during the upload?"
          action="End it and leave"
          text="The file is not stored yet. If you leave this page, the upload ends."
          onLeave={cancel}
        />
      )}
      {upload.state !== 'idle' && (
        <InView state={upload.state}>
          {upload.state === 'sending' && (
            <Stack gap={4} role="status">
              <Progress
                value={upload.totalBytes === 0 ? 0 : (100 * upload.sentBytes) / upload.totalBytes}
                aria-label="Progress of the upload"
              />
              {formatBytes(upload.sentBytes)} of {formatBytes(upload.totalBytes)}
            </Stack>
          )}
          {upload.state === 'failed' && <ErrorView error={upload.error} />}
          {upload.state === 'stored' && <Stored dataset={upload.dataset} expectedHash={expectedHash} />}
        </InView>
      )}
    </>
  );
}

function Stored({
  dataset,
  expectedHash,
}: {
  readonly dataset: Uploaded;
  readonly expectedHash: string | null;
}) {
  const isEqual = expectedHash === null || expectedHash === dataset.version_hash;
  return (
    <Alert
      color={isEqual ? 'teal' : 'red'}
      variant="light"
      role="status"
      title={
        isEqual
          ? `Stored ${formatCountOf(dataset.item_count, 'item')}`
          : 'The service computed another version hash'
      }
    >
      <Stack gap={6}>
        <CopyText text={dataset.version_hash} length={16} label="version hash" />
        {expectedHash !== null && isEqual && 'The hash is the one that the browser computed.'}
        <Group>
          <LinkAnchor to="/datasets/$id" params={{ id: dataset.id }}>
            Open the dataset
          </LinkAnchor>
          <LinkAnchor to="/runs/new" search={{ dataset: dataset.id }}>
            Run it
          </LinkAnchor>
        </Group>
      </Stack>
    </Alert>
  );
}
