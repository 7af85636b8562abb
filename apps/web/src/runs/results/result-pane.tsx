import { Badge, CloseButton, Group, SimpleGrid, Stack, Text } from '@mantine/core';
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
import { RichText } from '../../ui/text/rich-text.tsx';
import { Value } from '../../ui/text/value.tsx';
import type { Run } from '../use-run.ts';
import { FailureView } from './failure-view.tsx';
import type { ListedResult } from './result-columns.tsx';

/** One result: output, score and explanation, with the item below. */
export function ResultPane({
  run,
  result,
  onClose,
}: {
  readonly run: Run;
  readonly result: ListedResult;
  readonly onClose: () => void;
}) {
  return (
    <Stack gap={0}>
      <Stack gap="md" p="md">
        <Group gap="sm">
          <CloseButton className="wide-only" aria-label="Close the result" onClick={onClose} />
          <StatusBadge status={result.status} />
          {result.passed !== null && (
            <Badge size="sm" color={result.passed ? 'teal' : 'red'} variant="dot" tt="none">
              {result.passed ? 'right' : 'wrong'}
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
        {result.error !== null && <FailureView failure={result.error} what="result" />}
        <SimpleGrid cols={{ base: 1, xs: result.expected === '' ? 1 : 2 }}>
          {result.expected !== '' && (
            <Part title="Expected">
              <RichText text={result.expected} label="what is expected" isCode={result.type === 'code'} />
            </Part>
          )}
          {result.output !== null && result.output !== undefined && (
            <Part title="Output">
              <Value value={result.output as JsonValue} label="the output" isCode={result.type === 'code'} />
            </Part>
          )}
        </SimpleGrid>
        {result.explanation !== null && (
          <Part title="Why">
            <Value value={result.explanation} label="the explanation" />
          </Part>
        )}
        <PromptsOfRun run={run} />
        <SimpleGrid cols={1}>
          {result.omitted_assets !== null && result.omitted_assets.length > 0 && (
            <Part title="Files that the model was not sent">
              <Text size="sm" className="break">
                {result.omitted_assets.join(', ')}
              </Text>
            </Part>
          )}
          {result.usage !== null && (
            <Part title="Usage">
              <Text size="sm">{usageText(result.usage as JsonObject)}</Text>
            </Part>
          )}
        </SimpleGrid>
      </Stack>
      <ResultItem run={run} section={result.section} orderIndex={result.order_index} />
    </Stack>
  );
}

/** What the run asks besides the prompt of the item. */
function PromptsOfRun({ run }: { readonly run: Run }) {
  const { system_prompt, prompt_template } = run.config as {
    readonly system_prompt?: string | null;
    readonly prompt_template?: string | null;
  };
  const prompts = [
    ['System prompt of the run', system_prompt],
    ['Template of the run, filled in with the item below', prompt_template],
  ] as const;
  return prompts.map(([title, text]) =>
    text == null ? null : (
      <Part key={title} title={title}>
        <pre className="pre">{text}</pre>
      </Part>
    ),
  );
}

/** Counts of tokens in words: `7 prompt tokens, 12 completion tokens`. */
function usageText(usage: JsonObject): string {
  return Object.entries(usage)
    .map(([name, value]) => `${plainText(value)} ${name.replaceAll('_', ' ')}`)
    .join(', ');
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
  const version = { id: run.dataset_id, version: run.dataset_version };
  const dataset = useDataset(run.dataset_id, String(run.dataset_version));
  const order = dataset.data?.sections.find(({ name }) => name === section)?.order_index;
  const position = `${order}-${orderIndex}`;
  const found = useQuery({
    queryKey: ['item', version, position],
    queryFn: ({ signal }) => readItem(api, version, position, signal),
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
