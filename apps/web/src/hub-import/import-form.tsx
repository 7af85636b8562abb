import { Group, Select, Stack, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { MappingPanes } from '../mapping/mapping-panes.tsx';
import { useMappingDraft } from '../mapping/suggest-mapping.ts';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCount, formatCountOf } from '../ui/text/formats.ts';
import { useChangeSearch } from '../ui/use-change-search.ts';
import { allSubsets, type ImportSearch, SUBSETS } from './hub-source.ts';
import { ImportActions } from './import-actions.tsx';
import { type HubPreview, type HubSource, useHubPreview } from './use-hub-preview.ts';

const route = getRouteApi('/import');

/** The mapping of a previewed dataset next to the items that it makes. */
export function ImportForm({
  source,
  preview,
}: {
  readonly source: HubSource & { readonly path: string };
  readonly preview: HubPreview;
}) {
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

/** Which part of the dataset is imported: subset, split and slice, with their rows. */
function Slice({ source, preview }: { readonly source: HubSource; readonly preview: HubPreview }) {
  const change = useChangeSearch<ImportSearch>(route);
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
function SplitInput({
  split,
  onChange,
}: {
  readonly split: string;
  readonly onChange: (split: string) => void;
}) {
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
