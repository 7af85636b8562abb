import { Alert, Button, TextInput } from '@mantine/core';
import type { Paths, ResponseOf } from '@svc/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../api/send.ts';
import { JobProgress } from '../jobs/job-progress.tsx';
import { type Mapping, MISSING_PROMPT } from '../mapping/mapping-fields.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { ActionBar, InView } from '../ui/layout/action-bar.tsx';
import { CopyText } from '../ui/text/copy-action.tsx';
import { formatCountOf } from '../ui/text/formats.ts';
import type { HubSource } from './use-hub-preview.ts';

type Body = Paths['/datasets/hub/import']['post']['requestBody']['content']['application/json'];

type DryRun = ResponseOf<'/datasets/hub/check', 'post'>;

/** Checks every row without storing anything, or imports them as a job. */
export function ImportActions({
  source: { path, subset, subsets, split, revision, token },
  mapping,
}: {
  readonly source: HubSource & { readonly path: string };
  readonly mapping: Mapping | null;
}) {
  const [name, setName] = useState(path.split('/').at(-1) ?? path);
  const bodyOf = (complete: Mapping): Body => ({
    name,
    config: { path, ...(subsets === undefined ? { subset } : { subsets }), split, revision, token },
    mapping: complete,
  });
  const dryRun = useMutation({
    mutationFn: async (complete: Mapping) => await send('post', '/datasets/hub/check', {}, bodyOf(complete)),
  });
  const start = useMutation({
    mutationFn: async (complete: Mapping) => {
      const headers = {
        Prefer: 'respond-async',
        'Idempotency-Key': crypto.getRandomValues(new Uint32Array(4)).join('-'),
      };
      const job = await send('post', '/datasets/hub/import', { header: headers }, bodyOf(complete));
      return (job as { readonly id: string }).id;
    },
  });
  const missing = mapping === null ? MISSING_PROMPT : name.trim() === '' ? 'Name the dataset.' : null;
  const isReady = missing === null;
  return (
    <>
      <TextInput
        label="Name of the dataset"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={255}
      />
      <ActionBar missing={missing}>
        <Button
          disabled={!isReady || start.data !== undefined}
          loading={start.isPending}
          onClick={() => mapping !== null && start.mutate(mapping)}
        >
          Import
        </Button>
        <Button
          variant="default"
          disabled={!isReady}
          loading={dryRun.isPending}
          onClick={() => mapping !== null && dryRun.mutate(mapping)}
        >
          Check every row
        </Button>
      </ActionBar>
      <InView state={`${dryRun.status} ${start.status}`}>
        {dryRun.error !== null && <ErrorView error={dryRun.error} />}
        {dryRun.data !== undefined && <DryRunResult result={dryRun.data} />}
        {start.error !== null && <ErrorView error={start.error} />}
        {start.data !== undefined && <JobProgress id={start.data} onRetry={() => start.reset()} />}
      </InView>
    </>
  );
}

function DryRunResult({ result }: { readonly result: DryRun }) {
  const { errors, errors_total: total } = result;
  if (total === 0)
    return (
      <Alert
        color="teal"
        variant="light"
        title={`${formatCountOf(result.item_count, 'item')}, no invalid row`}
      >
        {result.version_hash !== null && (
          <CopyText text={result.version_hash} length={16} label="version hash" />
        )}
      </Alert>
    );
  return (
    <Alert color="red" variant="light" title={`${formatCountOf(total, 'invalid row')}, counted from 0`}>
      {errors.map(({ row, message }) => (
        <div key={`${row} ${message}`} className="break">
          {row === undefined ? '' : `Row ${row}: `}
          {message}
        </div>
      ))}
    </Alert>
  );
}
