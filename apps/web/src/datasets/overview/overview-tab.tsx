import { Group, SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { SmallButton } from '../../ui/buttons.tsx';
import { CountBars } from '../../ui/charts/bars.tsx';
import { Histogram } from '../../ui/charts/plots.tsx';
import { QueryState } from '../../ui/query-state.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { type DatasetSearch, datasetRoute } from '../dataset-search.ts';
import type { Dataset } from '../items/item-windows.ts';
import { overviewQuery } from '../queries.ts';

const HISTOGRAMS = [
  ['Length of prompts, in characters', 'promptLengths'],
  ['Length of answers, in characters', 'targetLengths'],
  ['Number of choices', 'choiceCounts'],
] as const;

const roundText = (value: number): string => formatCount(Math.round(value));

export default function OverviewTab({ dataset }: { readonly dataset: Dataset }) {
  const [isLimited, setLimited] = useState(true);
  const found = useQuery(overviewQuery(dataset, isLimited));
  const navigate = datasetRoute.useNavigate();
  const show = (filters: DatasetSearch): void =>
    void navigate({ search: ({ version }) => ({ version, tab: 'items', ...filters }) });
  const sections = new Map(dataset.sections.map(({ name, item_count }) => [name, item_count]));
  return (
    <Stack>
      <QueryState query={found} />
      {found.data !== undefined && (
        <>
          {!found.data.isWhole && (
            <Group gap="sm">
              <Dimmed>
                Types, tags and lengths are those of the first {formatCount(found.data.items)} items.
              </Dimmed>
              <SmallButton
                label={`Read all ${formatCount(dataset.item_count)}`}
                size="compact-sm"
                loading={found.isFetching}
                onClick={() => setLimited(false)}
              />
            </Group>
          )}
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="lg">
            <CountBars title="Sections" counts={sections} onChoose={(section) => show({ section })} />
            <CountBars title="Types" counts={found.data.types} onChoose={(type) => show({ type })} />
            <CountBars title="Tags" counts={found.data.tags} onChoose={(tag) => show({ tag })} />
            {HISTOGRAMS.map(([title, name]) => (
              <Histogram key={name} title={title} values={found.data[name]} format={roundText} />
            ))}
          </SimpleGrid>
        </>
      )}
    </Stack>
  );
}
