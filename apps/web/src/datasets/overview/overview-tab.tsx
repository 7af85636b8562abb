import { Button, Group, Progress, SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { Histogram } from '../../ui/charts/histogram.tsx';
import { ErrorView } from '../../ui/error-view.tsx';
import { PageSkeleton } from '../../ui/layout/page-skeleton.tsx';
import { Part } from '../../ui/layout/part.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import type { DatasetSearch } from '../dataset-search.ts';
import type { Dataset } from '../items/item-windows.ts';
import { readOverview } from './read-overview.ts';

const route = getRouteApi('/datasets/$id');

const MAX_ROWS = 30;

const roundText = (value: number): string => formatCount(Math.round(value));

/** What is in a dataset: counts by section, type and tag, and the lengths of its texts. */
export default function OverviewTab({ dataset }: { readonly dataset: Dataset }) {
  const [isLimited, setLimited] = useState(true);
  const found = useQuery({
    queryKey: ['overview', dataset.id, isLimited],
    queryFn: ({ signal }) => readOverview(dataset.id, isLimited, signal),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  });
  const sections = new Map(dataset.sections.map(({ name, item_count }) => [name, item_count]));
  return (
    <Stack>
      {found.error !== null && <ErrorView error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <PageSkeleton />}
      {found.data !== undefined && (
        <>
          {!found.data.isWhole && (
            <Group gap="sm">
              <Text size="sm" c="dimmed">
                Types, tags and lengths are those of the first {formatCount(found.data.items)} items.
              </Text>
              <Button
                size="compact-sm"
                variant="default"
                loading={found.isFetching}
                onClick={() => setLimited(false)}
              >
                Read all {formatCount(dataset.item_count)}
              </Button>
            </Group>
          )}
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="lg">
            <Counts title="Sections" counts={sections} filter="section" />
            <Counts title="Types" counts={found.data.types} filter="type" />
            {found.data.tags.size > 0 && <Counts title="Tags" counts={found.data.tags} filter="tag" />}
            <Histogram
              title="Length of prompts, in characters"
              values={found.data.promptLengths}
              format={roundText}
            />
            <Histogram
              title="Length of answers, in characters"
              values={found.data.targetLengths}
              format={roundText}
            />
            <Histogram title="Number of choices" values={found.data.choiceCounts} format={roundText} />
          </SimpleGrid>
        </>
      )}
    </Stack>
  );
}

function Counts({
  title,
  counts,
  filter,
}: {
  readonly title: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly filter: keyof DatasetSearch;
}) {
  const navigate = route.useNavigate();
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const most = sorted[0]?.[1] ?? 1;
  return (
    <Part title={title}>
      <ul className="plain-list">
        {sorted.slice(0, MAX_ROWS).map(([name, count]) => (
          <li key={name}>
            <UnstyledButton
              className="count-row"
              onClick={() => void navigate({ search: { tab: 'items', [filter]: name } })}
            >
              <Group justify="space-between" gap="xs" wrap="nowrap">
                <Text span size="sm" className="ellipsis">
                  {name}
                </Text>
                <Text span size="sm" c="dimmed">
                  {formatCount(count)}
                </Text>
              </Group>
              <Progress value={(100 * count) / most} size="xs" aria-hidden="true" />
            </UnstyledButton>
          </li>
        ))}
      </ul>
      {sorted.length > MAX_ROWS && (
        <Text size="xs" c="dimmed">
          and {formatCount(sorted.length - MAX_ROWS)} more
        </Text>
      )}
    </Part>
  );
}
