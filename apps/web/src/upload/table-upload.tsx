import { Stack } from '@mantine/core';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useApi } from '../api/api-context.tsx';
import type { Mapping } from '../mapping/mapping-fields.ts';
import { MappingPanes } from '../mapping/mapping-panes.tsx';
import { PreviewTable } from '../mapping/preview-table.tsx';
import { suggestMapping } from '../mapping/suggest-mapping.ts';
import { useMappingDraft } from '../mapping/use-mapping-draft.ts';
import { QueryState } from '../ui/query-state.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCount } from '../ui/text/formats.ts';
import { LegacyUpload } from './legacy-upload.tsx';
import { previewUpload, type UploadPreview } from './preview-upload.ts';
import { SendForm } from './send-form.tsx';

/** A table: its first rows, the mapping of its columns with the items that it makes, and the upload. */
export function TableUpload({ files }: { readonly files: readonly File[] }) {
  const api = useApi();
  const key = files.map(({ name, size, lastModified }) => `${name} ${size} ${lastModified}`);
  const preview = useQuery({
    queryKey: ['upload-preview', key],
    queryFn: ({ signal }) => previewUpload(api, { files }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!preview.isSuccess) return <QueryState query={preview} />;
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
  const suggested = useMemo(() => suggestMapping(preview), [preview]);
  const mapping = useMappingDraft(suggested.mapping, preview);
  const asked = textOf(mapping.settled);
  const mapped = useQuery({
    queryKey: ['upload-preview', fileKey, asked],
    queryFn: ({ signal }) => previewUpload(api, { files, mapping: asked }, signal),
    enabled: asked !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  return (
    <Stack>
      <Dimmed>
        {preview.format}
        {preview.num_rows === null ? '' : `, ${formatCount(preview.num_rows)} rows`}
      </Dimmed>
      <PreviewTable features={preview.features} samples={preview.samples as readonly JsonObject[]} />
      <MappingPanes
        columns={preview.features.map(({ name }) => name)}
        reasons={suggested.reasons}
        mapping={mapping}
        items={mapped.data?.items}
        error={mapped.error}
      >
        <SendForm
          files={files}
          mapping={textOf(mapping.shown)}
          expectedHash={null}
          isReady={mapping.shown !== null}
        />
      </MappingPanes>
    </Stack>
  );
}

const textOf = (mapping: Mapping | null): string | undefined =>
  mapping === null ? undefined : JSON.stringify(mapping);
