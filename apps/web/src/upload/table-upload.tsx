import { Alert, Stack } from '@mantine/core';
import type { Paths } from '@svc/client';
import { type ReactNode, useEffect, useState } from 'react';
import { MISSING_PROMPT } from '../mapping/mapping-fields.ts';
import { MappingPanes } from '../mapping/mapping-panes.tsx';
import { useMappingDraft } from '../mapping/suggest-mapping.ts';
import { isShown, QueryState } from '../ui/query-state.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCountOf } from '../ui/text/formats.ts';
import { SendForm } from './send-form.tsx';
import { type UploadPreview, useUploadPreview } from './use-upload.ts';

type FileFormat = NonNullable<
  Paths['/datasets/upload']['post']['requestBody']['content']['multipart/form-data']['format']
>;

const FORMATS: Readonly<Record<FileFormat, string>> = {
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
  const [mapping, setMapping] = useState<string | null>(null);
  if (!isShown(preview)) return <QueryState query={preview} />;
  const { kind, format, num_rows } = preview.data;
  if (kind === 'legacy_package')
    return (
      <Stack>
        <Alert color="yellow" title="An archive of an older format">
          The upload converts it to a package. The archive itself is not kept.
        </Alert>
        <SendForm files={files} expectedHash={null} convert />
      </Stack>
    );
  return (
    <Stack>
      <Dimmed>
        {FORMATS[format as FileFormat] ?? format}
        {num_rows === null ? '' : `, ${formatCountOf(num_rows, 'row')}`}
      </Dimmed>
      <MappedTable files={files} preview={preview.data} onMapping={setMapping}>
        <SendForm
          files={files}
          mapping={mapping ?? undefined}
          expectedHash={null}
          missing={mapping === null ? MISSING_PROMPT : null}
        />
      </MappedTable>
    </Stack>
  );
}

export function MappedTable(props: {
  readonly files: readonly File[];
  readonly preview: UploadPreview;
  /** Receives the mapping as JSON text; null while the prompt is not mapped. */
  readonly onMapping: (mapping: string | null) => void;
  readonly children?: ReactNode;
}) {
  const { files, preview, onMapping, children } = props;
  const mapping = useMappingDraft(preview);
  const [shown, settled] = [mapping.shown, mapping.settled].map((one) => one && JSON.stringify(one));
  const mapped = useUploadPreview(files, settled ?? undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says all
  useEffect(() => {
    onMapping(shown ?? null);
    // it says nothing of another table
    return () => onMapping(null);
  }, [shown]);
  return (
    <MappingPanes preview={preview} mapping={mapping} items={mapped.data?.items} error={mapped.error}>
      {children}
    </MappingPanes>
  );
}
