import { Alert, Grid, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { ItemPreview } from '../mapping/item-preview.tsx';
import { MappingEditor, type Reasons } from '../mapping/mapping-editor.tsx';
import { completeMapping, type MappingDraft } from '../mapping/mapping-fields.ts';
import { PreviewTable } from '../mapping/preview-table.tsx';
import { ErrorView } from '../ui/error-view.tsx';
import { formatCount } from '../ui/text/formats.ts';
import { ImportActions } from './import-actions.tsx';
import type { ImportSearch } from './import-search.ts';
import { type HubPreview, useHubPreview } from './use-hub-preview.ts';

const route = getRouteApi('/import');

const TYPING_MS = 300;

/** The mapping of a previewed dataset, with its items beside it. */
export function ImportForm({
  source,
  preview,
}: {
  readonly source: ImportSearch & { readonly path: string };
  readonly preview: HubPreview;
}) {
  const navigate = route.useNavigate();
  const [mapping, setMapping] = useState<MappingDraft>((preview.suggested_mapping ?? {}) as MappingDraft);
  const [settled] = useDebouncedValue(mapping, TYPING_MS);
  const complete = useMemo(() => completeMapping(settled), [settled]);
  // what is imported is what the fields show, also while the preview waits for the end of typing
  const shown = useMemo(() => completeMapping(mapping), [mapping]);
  const mapped = useHubPreview(complete === null ? {} : source, complete);
  const columns = preview.features.map(({ name }) => name);
  const subsets = [...new Set(preview.splits.map(({ subset }) => subset))];
  const change = (changes: ImportSearch): void =>
    void navigate({ search: (before) => ({ ...before, ...changes }) });
  return (
    <Stack>
      <Group gap="sm" align="flex-end">
        {subsets.length > 1 && (
          <Select
            label="Subset"
            size="xs"
            searchable
            value={preview.subset}
            onChange={(value) => change({ subset: value ?? undefined, split: undefined })}
            data={subsets}
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
            .map(({ split, num_rows }) => ({
              value: split,
              label: num_rows === null ? split : `${split} (${formatCount(num_rows)} rows)`,
            }))}
        />
        <SplitInput split={source.split ?? preview.split} onChange={(split) => change({ split })} />
        <Text size="sm" c="dimmed" pb={6}>
          {preview.num_rows === null ? '' : `${formatCount(preview.num_rows)} rows`}
        </Text>
      </Group>
      <Warnings preview={preview} />
      <PreviewTable features={preview.features} samples={preview.samples as readonly JsonObject[]} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Title order={2} size="h5" mb="xs">
            Columns
          </Title>
          <MappingEditor
            columns={columns}
            mapping={mapping}
            reasons={(preview.suggested_mapping_reasons ?? {}) as Reasons}
            onChange={setMapping}
          />
          <ImportActions source={source} mapping={shown} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Title order={2} size="h5" mb="xs">
            Items
          </Title>
          {mapped.error !== null && <ErrorView error={mapped.error} />}
          <ItemPreview
            rows={complete === null ? [] : ((mapped.data?.items ?? []) as readonly JsonObject[])}
          />
        </Grid.Col>
      </Grid>
    </Stack>
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

function Warnings({ preview }: { readonly preview: HubPreview }) {
  const { warnings } = preview.info as { readonly warnings?: unknown };
  if (!Array.isArray(warnings) || warnings.length === 0) return null;
  return (
    <Alert color="yellow" variant="light" title="Before you import">
      {warnings.slice(0, 10).map((warning) => (
        <Text key={String(warning)} size="sm" className="break">
          {typeof warning === 'string' ? warning : JSON.stringify(warning)}
        </Text>
      ))}
    </Alert>
  );
}
