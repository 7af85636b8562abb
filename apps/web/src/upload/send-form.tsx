import { Alert, Button, Group, Progress, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { LinkAnchor } from '../ui/buttons.tsx';
import { type Field, Fields } from '../ui/form/fields.tsx';
import { ActionBar, InView, LeaveDialog } from '../ui/form/form-dialog.tsx';
import { ErrorView } from '../ui/query-state.tsx';
import { CopyText } from '../ui/text/copy-action.tsx';
import { formatBytes, formatCountOf } from '../ui/text/formats.ts';
import { useUpload } from './use-upload.ts';

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
export function SendForm(props: {
  readonly files: readonly File[];
  /** Column mapping of a table, as JSON text. */
  readonly mapping?: string | undefined;
  /** What the browser computed; null if it cannot. */
  readonly expectedHash: string | null;
  readonly missing?: string | null;
  /** Whether the browser found errors for which the service, which decides, would refuse them. */
  readonly isRefused?: boolean;
  readonly convert?: boolean;
}) {
  const { files, mapping, expectedHash, missing = null, isRefused = false, convert } = props;
  const form = useForm({ initialValues: { name: '', handle: '' } });
  const { name, handle } = form.values;
  const { start, cancel, status, sent, stored, error } = useUpload();
  const isRunning = status === 'pending';
  const isOther = expectedHash !== null && stored !== undefined && stored.version_hash !== expectedHash;
  return (
    <>
      <Fields form={form} fields={FIELDS} />
      <ActionBar missing={missing}>
        <Button
          variant={isRefused ? 'default' : 'filled'}
          disabled={missing !== null || isRunning || stored !== undefined}
          loading={isRunning && sent === undefined}
          onClick={() => start({ files, name, handle: handle.trim(), mapping, convert })}
        >
          {error !== null
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
      {status !== 'idle' && (
        <InView state={`${status} ${sent === undefined}`}>
          {sent !== undefined && (
            <Stack gap={4} role="status">
              <Progress
                value={sent.total === 0 ? 0 : (100 * sent.bytes) / sent.total}
                aria-label="Progress of the upload"
              />
              {formatBytes(sent.bytes)} of {formatBytes(sent.total)}
            </Stack>
          )}
          {error !== null && <ErrorView error={error} />}
          {stored !== undefined && (
            <Stored
              id={stored.id}
              isWrong={isOther}
              title={
                isOther
                  ? 'The service computed another version hash'
                  : `Stored ${formatCountOf(stored.item_count, 'item')}`
              }
            >
              <CopyText text={stored.version_hash} length={16} label="version hash" />
              {expectedHash !== null && !isOther && 'The hash is the one that the browser computed.'}
            </Stored>
          )}
        </InView>
      )}
    </>
  );
}

export function Stored(props: {
  readonly id: string;
  readonly title: string;
  readonly isWrong?: boolean;
  readonly children: ReactNode;
}) {
  const { id, title, isWrong = false, children } = props;
  return (
    <Alert color={isWrong ? 'red' : 'teal'} role="status" title={title}>
      <Stack gap={6}>
        {children}
        <Group>
          <LinkAnchor to="/datasets/$id" params={{ id }}>
            Open the dataset
          </LinkAnchor>
          <LinkAnchor to="/runs/new" search={{ dataset: id }}>
            Run it
          </LinkAnchor>
        </Group>
      </Stack>
    </Alert>
  );
}
