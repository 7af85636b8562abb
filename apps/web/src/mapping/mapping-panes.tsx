import { Checkbox, Grid, Stack, Title } from '@mantine/core';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { ReactNode } from 'react';
import { ErrorView } from '../ui/error-view.tsx';
import { formatCountOf } from '../ui/text/formats.ts';
import { ItemPreview } from './item-preview.tsx';
import { MappingEditor } from './mapping-editor.tsx';
import { PreviewTable } from './preview-table.tsx';
import type { PreviewedTable } from './suggest-mapping.ts';
import type { MappingState } from './use-mapping-draft.ts';

/** The first rows of a table, and below them the mapping of its columns next to the items that it makes. */
export function MappingPanes({
  preview: { features, samples },
  mapping: { draft, setDraft, reasons, others, keepsOthers, setKeepsOthers, settled },
  items,
  error,
  children,
}: {
  readonly preview: PreviewedTable;
  readonly mapping: MappingState;
  /** The first rows as items; undefined until they are there. */
  readonly items: readonly object[] | undefined;
  readonly error: unknown;
  /** What is done with the mapping. */
  readonly children: ReactNode;
}) {
  return (
    <>
      <PreviewTable features={features} samples={samples as readonly JsonObject[]} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Stack gap="sm">
            <Title order={2} size="h5">
              Columns
            </Title>
            <MappingEditor
              columns={features.map(({ name }) => name)}
              mapping={draft}
              reasons={reasons}
              onChange={setDraft}
            />
            {others.length > 0 && (
              <Checkbox
                label={`Keep ${formatCountOf(others.length, 'other column')} as metadata`}
                description={others.join(', ')}
                checked={keepsOthers}
                onChange={(event) => setKeepsOthers(event.currentTarget.checked)}
              />
            )}
            {children}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Title order={2} size="h5" mb="xs">
            Items
          </Title>
          {error !== null && <ErrorView error={error} />}
          <ItemPreview rows={settled === null ? [] : ((items ?? []) as readonly JsonObject[])} />
        </Grid.Col>
      </Grid>
    </>
  );
}
