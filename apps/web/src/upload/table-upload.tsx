import { Alert, Stack } from '@mantine/core';
import { type Mapping, MISSING_PROMPT } from '../mapping/mapping-fields.ts';
import { MappingPanes } from '../mapping/mapping-panes.tsx';
import { useMappingDraft } from '../mapping/suggest-mapping.ts';
import { isShown } from '../ui/is-shown.ts';
import { QueryState } from '../ui/query-state.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCountOf } from '../ui/text/formats.ts';
import { SendForm } from './send-form.tsx';
import { type UploadPreview, useUploadPreview } from './use-upload.ts';

const FORMATS: Readonly<Record<string, string>> = {
  csv: 'CSV',
  tsv: 'TSV',
  jsonl: 'JSON Lines',
  json: 'JSON',
  parquet: 'Parquet',
  text: 'Text',
};

/** A table: its first rows, the mapping of its columns with the items that it makes, and the upload. */
export function TableUpload({ files }: { readonly files: readonly File[] }) {
  const preview = useUploadPreview(files);
  if (!isShown(preview)) return <QueryState query={preview} />;
  if (preview.data.kind === 'legacy_package') return <LegacyUpload files={files} />;
  return <MappedTable files={files} preview={preview.data} />;
}

function MappedTable({
  files,
  preview,
}: {
  readonly files: readonly File[];
  readonly preview: UploadPreview;
}) {
  const mapping = useMappingDraft(preview);
  const mapped = useUploadPreview(files, textOf(mapping.settled));
  return (
    <Stack>
      <Dimmed>
        {FORMATS[preview.format ?? ''] ?? preview.format}
        {preview.num_rows === null ? '' : `, ${formatCountOf(preview.num_rows, 'row')}`}
      </Dimmed>
      <MappingPanes preview={preview} mapping={mapping} items={mapped.data?.items} error={mapped.error}>
        <SendForm
          files={files}
          mapping={textOf(mapping.shown)}
          expectedHash={null}
          missing={mapping.shown === null ? MISSING_PROMPT : null}
        />
      </MappingPanes>
    </Stack>
  );
}

/** An archive of an older format, which the service converts while it imports it. */
function LegacyUpload({ files }: { readonly files: readonly File[] }) {
  return (
    <Stack>
      <Alert color="yellow" variant="light" title="An archive of an older format">
        The upload converts it to a package. The archive itself is not kept.
      </Alert>
      <SendForm files={files} expectedHash={null} convert />
    </Stack>
  );
}

const textOf = (mapping: Mapping | null): string | undefined =>
  mapping === null ? undefined : JSON.stringify(mapping);
