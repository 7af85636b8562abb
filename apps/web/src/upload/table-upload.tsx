import { Grid, Stack, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useApi } from '../api/api-context.tsx';
import { ItemPreview } from '../mapping/item-preview.tsx';
import { MappingEditor } from '../mapping/mapping-editor.tsx';
import { completeMapping, type MappingDraft } from '../mapping/mapping-fields.ts';
import { PreviewTable } from '../mapping/preview-table.tsx';
import { ErrorView } from '../ui/error-view.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { formatCount } from '../ui/text/formats.ts';
import { LegacyUpload } from './legacy-upload.tsx';
import { previewUpload, type UploadPreview } from './preview-upload.ts';
import { SendForm } from './send-form.tsx';

const TYPING_MS = 300;

/** A table: its first rows, the mapping of its columns with the items that it makes, and the upload. */
export function TableUpload({ files }: { readonly files: readonly File[] }) {
  const api = useApi();
  const key = files.map(({ name, size, lastModified }) => `${name} ${size} ${lastModified}`);
  const preview = useQuery({
    queryKey: ['upload-preview', key],
    queryFn: ({ signal }) => previewUpload(api, { files }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (preview.isPending) return <PageSkeleton />;
  if (preview.error !== null)
    return <ErrorView error={preview.error} onRetry={() => void preview.refetch()} />;
  if (preview.data.kind === 'legacy_package') return <LegacyUpload files={files} />;
  return <MappedTable files={files} fileKey={key} preview={preview.data} />;
}

function MappedTable({
  files,
  fileKey,
  preview,
}: {
  readonly files: readonly File[];
  readonly fileKey: readonly string[];
  readonly preview: UploadPreview;
}) {
  const api = useApi();
  const [draft, setDraft] = useState<MappingDraft>((preview.suggested_mapping ?? {}) as MappingDraft);
  const [settled] = useDebouncedValue(draft, TYPING_MS);
  const mapping = useMemo(() => mappingText(settled), [settled]);
  // what is sent is what the fields show, also while the preview waits for the end of typing
  const shown = mappingText(draft);
  const mapped = useQuery({
    queryKey: ['upload-preview', fileKey, mapping],
    queryFn: ({ signal }) => previewUpload(api, { files, mapping }, signal),
    enabled: mapping !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {preview.format}
        {preview.num_rows === null ? '' : `, ${formatCount(preview.num_rows)} rows`}
      </Text>
      <PreviewTable features={preview.features} samples={preview.samples as readonly JsonObject[]} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Title order={2} size="h5" mb="xs">
            Columns
          </Title>
          <MappingEditor
            columns={preview.features.map(({ name }) => name)}
            mapping={draft}
            reasons={(preview.suggested_mapping_reasons ?? {}) as Readonly<Record<string, string>>}
            onChange={setDraft}
          />
          <SendForm files={files} mapping={shown} expectedHash={null} isReady={shown !== undefined} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Title order={2} size="h5" mb="xs">
            Items
          </Title>
          {mapped.error !== null && <ErrorView error={mapped.error} />}
          <ItemPreview
            rows={mapping === undefined ? [] : ((mapped.data?.items ?? []) as readonly JsonObject[])}
          />
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

function mappingText(draft: MappingDraft): string | undefined {
  const complete = completeMapping(draft);
  return complete === null ? undefined : JSON.stringify(complete);
}
