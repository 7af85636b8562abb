import { Alert, Button, Group, Select, Stack, TextInput } from '@mantine/core';
import type { BodyOf, ResponseOf } from '@svc/client';
import { type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../api/api.ts';
import { JobProgress } from '../jobs/job-progress.tsx';
import { type Mapping, MISSING_PROMPT } from '../mapping/mapping-fields.ts';
import { MappingPanes } from '../mapping/mapping-panes.tsx';
import { useMappingDraft } from '../mapping/suggest-mapping.ts';
import { ActionBar, InView } from '../ui/form/form-dialog.tsx';
import { ErrorView } from '../ui/query-state.tsx';
import { CopyText } from '../ui/text/copy-action.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCount, formatCountOf } from '../ui/text/formats.ts';
import { allSubsets, type HubSource, SUBSETS, useChangeImport } from './hub-source.ts';

export function ImportForm(props: {
  readonly source: HubSource & { readonly path: string };
  readonly preview: HubPreview;
}) {
  const { source, preview } = props;
  const mapping = useMappingDraft(preview);
  const mapped = useHubPreview(mapping.settled === null ? {} : source, mapping.settled);
  return (
    <Stack>
      <Slice source={source} preview={preview} />
      <MappingPanes preview={preview} mapping={mapping} items={mapped.data?.items} error={mapped.error}>
        <ImportActions source={source} mapping={mapping.shown} />
      </MappingPanes>
    </Stack>
  );
}

function Slice({ source, preview }: { readonly source: HubSource; readonly preview: HubPreview }) {
  const change = useChangeImport();
  const subsets = [...new Set(preview.splits.map(({ subset }) => subset))];
  const split = source.split ?? preview.split;
  return (
    <Group gap="sm" align="flex-end">
      {subsets.length > 1 && (
        <Select
          label={`Subset (${formatCount(subsets.length)})`}
          size="xs"
          searchable
          disabled={source.subsets !== undefined}
          value={preview.subset}
          // most subsets of a dataset have the same splits
          onChange={(value) => change({ subset: value ?? undefined })}
          data={subsets}
        />
      )}
      {subsets.length > 1 && (
        <Select
          label="Which subsets"
          size="xs"
          value={source.subsets ?? 'one'}
          onChange={(value) => change({ subsets: SUBSETS.find((one) => one === value) })}
          data={[{ value: 'one', label: 'This one' }, ...allSubsets(subsets.length)]}
        />
      )}
      <Select
        label="Split"
        size="xs"
        value={/^[\w.-]+$/.test(preview.split) ? preview.split : null}
        placeholder={preview.split}
        onChange={(value) => change({ split: value ?? undefined })}
        data={preview.splits
          .filter(({ subset }) => subset === preview.subset)
          .map(({ split: name, num_rows }) => ({
            value: name,
            label: num_rows === null ? name : `${name} (${formatCountOf(num_rows, 'row')})`,
          }))}
      />
      <SplitInput key={split} split={split} onChange={(next) => change({ split: next })} />
      <Dimmed pb={6}>
        {preview.num_rows === null ? '' : formatCountOf(preview.num_rows, 'row')}
        {source.revision === undefined ? '' : ` at ${source.revision}`}
      </Dimmed>
    </Group>
  );
}

/** A slice, such as `train[:100]`, which takes effect when it is complete. */
function SplitInput(props: { readonly split: string; readonly onChange: (split: string) => void }) {
  const { split, onChange } = props;
  const [text, setText] = useState(split);
  const send = (): void => {
    if (text !== split && text !== '') onChange(text);
  };
  return (
    <TextInput
      label="Slice"
      size="xs"
      w={180}
      value={text}
      placeholder="train[:100]"
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={send}
      onKeyDown={(event) => event.key === 'Enter' && send()}
    />
  );
}

type HubPreview = ResponseOf<'/datasets/hub/preview', 'post'>;

const ROWS = 20;

/** The preview of a slice of a hub dataset; with a mapping, also its first rows as items. */
export function useHubPreview(source: HubSource, mapping: Mapping | null): UseQueryResult<HubPreview> {
  const { path, subset, split, revision, token } = source;
  const body = {
    path: path ?? '',
    subset,
    split,
    revision,
    token,
    limit: ROWS,
    mapping: mapping ?? undefined,
  };
  return useQuery({
    queryKey: ['hub-preview', path, body],
    queryFn: ({ signal }) => send('post', '/datasets/hub/preview', {}, body, signal),
    enabled: path !== undefined,
    staleTime: 5 * 60_000,
    // what was there for the last slice or mapping stays until the next is there
    placeholderData: (before, query) => (query?.queryKey[1] === path ? before : undefined),
  });
}

type Import = BodyOf<'/datasets/hub/import'>;
type DryRun = ResponseOf<'/datasets/hub/check', 'post'>;

function ImportActions(props: {
  readonly source: HubSource & { readonly path: string };
  readonly mapping: Mapping | null;
}) {
  const { mapping } = props;
  const { path, subset, subsets, split, revision, token } = props.source;
  const [name, setName] = useState(path.split('/').at(-1) ?? path);
  const body: Import | null = mapping && {
    name,
    config: { path, ...(subsets === undefined ? { subset } : { subsets }), split, revision, token },
    mapping,
  };
  const isShown = (sent: Import | undefined): boolean => JSON.stringify(sent) === JSON.stringify(body);
  const dryRun = useMutation({
    mutationFn: (sent: Import) => send('post', '/datasets/hub/check', {}, sent),
  });
  // the name changes no item
  const isChecked = isShown(dryRun.variables && { ...dryRun.variables, name });
  const start = useMutation({
    mutationFn: async (sent: Import) => {
      const headers = {
        Prefer: 'respond-async',
        'Idempotency-Key': crypto.getRandomValues(new Uint32Array(4)).join('-'),
      };
      const job = await send('post', '/datasets/hub/import', { header: headers }, sent);
      return (job as { readonly id: string }).id;
    },
  });
  const missing = mapping === null ? MISSING_PROMPT : name.trim() === '' ? 'Name the dataset.' : null;
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
          disabled={missing !== null || (start.data !== undefined && isShown(start.variables))}
          loading={start.isPending}
          onClick={() => body !== null && start.mutate(body)}
        >
          Import
        </Button>
        <Button
          variant="default"
          disabled={missing !== null}
          loading={dryRun.isPending}
          onClick={() => body !== null && dryRun.mutate(body)}
        >
          Check every row
        </Button>
      </ActionBar>
      <InView state={`${dryRun.status} ${start.status}`}>
        {isChecked && dryRun.error !== null && <ErrorView error={dryRun.error} />}
        {isChecked && dryRun.data !== undefined && <DryRunResult result={dryRun.data} />}
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
      <Alert color="teal" title={`${formatCountOf(result.item_count, 'item')}, no invalid row`}>
        {result.version_hash !== null && (
          <CopyText text={result.version_hash} length={16} label="version hash" />
        )}
      </Alert>
    );
  return (
    <Alert color="red" title={`${formatCountOf(total, 'invalid row')}, counted from 0`}>
      {errors.map(({ row, message }) => (
        <div key={`${row} ${message}`} className="break">
          {row === undefined ? '' : `Row ${row}: `}
          {message}
        </div>
      ))}
    </Alert>
  );
}
