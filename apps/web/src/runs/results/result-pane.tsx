import { Badge, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api-context.tsx';
import { ItemViewer } from '../../datasets/items/item-viewer.tsx';
import { readItem } from '../../datasets/items/item-windows.ts';
import { useDataset } from '../../datasets/use-dataset.ts';
import { ErrorView } from '../../ui/error-view.tsx';
import { PageSkeleton } from '../../ui/layout/page-skeleton.tsx';
import { Part } from '../../ui/layout/part.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { formatDuration, formatScore } from '../../ui/text/formats.ts';
import { plainText } from '../../ui/text/pretty-json.ts';
import { Value } from '../../ui/text/value.tsx';
import type { Result, Run } from '../use-run.ts';

/** One result: output, score and explanation, with the item below. */
export function ResultPane({ run, result }: { readonly run: Run; readonly result: Result }) {
  return (
    <Stack gap={0}>
      <Stack gap="md" p="md">
        <Group gap="sm">
          <StatusBadge status={result.status} />
          {result.passed !== null && (
            <Badge size="sm" color={result.passed ? 'teal' : 'red'} variant="dot" tt="none">
              {result.passed ? 'passed' : 'not passed'}
            </Badge>
          )}
          <Text size="sm">Score {formatScore(result.score)}</Text>
          {result.latency_ms !== null && (
            <Text size="sm" c="dimmed">
              {formatDuration(result.latency_ms)}
            </Text>
          )}
          {result.truncated && (
            <Badge size="sm" color="orange" variant="dot" tt="none">
              truncated
            </Badge>
          )}
          {result.finish_reason !== null && (
            <Text size="sm" c="dimmed">
              {result.finish_reason}
            </Text>
          )}
          {result.attempts !== null && result.attempts > 1 && (
            <Text size="sm" c="dimmed">
              {result.attempts} attempts
            </Text>
          )}
          {result.repetition > 1 && (
            <Text size="sm" c="dimmed">
              repetition {result.repetition}
            </Text>
          )}
        </Group>
        <SimpleGrid cols={1}>
          {result.output !== null && result.output !== undefined && (
            <Part title="Output">
              <Value value={result.output as JsonValue} label="the output" />
            </Part>
          )}
          {result.explanation !== null && (
            <Part title="Explanation">
              <Value value={result.explanation} label="the explanation" />
            </Part>
          )}
          {result.error !== null && (
            <ErrorView error={new Error(`${result.error.code ?? 'failed'}: ${result.error.message ?? ''}`)} />
          )}
          {result.omitted_assets !== null && result.omitted_assets.length > 0 && (
            <Part title="Files that the model was not sent">
              <Text size="sm" className="break">
                {result.omitted_assets.join(', ')}
              </Text>
            </Part>
          )}
          {result.usage !== null && (
            <Part title="Usage">
              <Text size="sm">{plainText(result.usage as JsonValue)}</Text>
            </Part>
          )}
        </SimpleGrid>
      </Stack>
      <ResultItem run={run} section={result.section} orderIndex={result.order_index} />
    </Stack>
  );
}

function ResultItem({
  run,
  section,
  orderIndex,
}: {
  readonly run: Run;
  readonly section: string;
  readonly orderIndex: number;
}) {
  const api = useApi();
  const dataset = useDataset(run.dataset_id);
  const order = dataset.data?.sections.find(({ name }) => name === section)?.order_index;
  const position = `${order}-${orderIndex}`;
  const found = useQuery({
    queryKey: ['item', run.dataset_id, position],
    queryFn: ({ signal }) => readItem(api, run.dataset_id, position, signal),
    enabled: order !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (found.error !== null) return <ErrorView error={found.error} />;
  if (found.isLoading) return <PageSkeleton rows={4} />;
  if (found.data?.item === undefined || found.data.item === null) return null;
  const { item, item_hash } = found.data;
  return (
    <ItemViewer
      item={item as JsonObject}
      datasetId={run.dataset_id}
      section={section}
      orderIndex={orderIndex}
      hash={item_hash}
    />
  );
}
