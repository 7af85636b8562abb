import { ActionIcon, Badge, CloseButton, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../../api/api-context.tsx';
import { ItemViewer } from '../../../datasets/items/item-viewer.tsx';
import { readItem } from '../../../datasets/items/item-windows.ts';
import { useDataset } from '../../../datasets/use-dataset.ts';
import { ErrorView } from '../../../ui/error-view.tsx';
import { PageSkeleton } from '../../../ui/layout/page-skeleton.tsx';
import { Part } from '../../../ui/layout/part.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { Dimmed } from '../../../ui/text/dimmed.ts';
import { formatDuration, formatScore } from '../../../ui/text/formats.ts';
import { plainText } from '../../../ui/text/pretty-json.ts';
import { Value } from '../../../ui/text/value.tsx';
import type { Run } from '../../use-run.ts';
import { answerIn, type ListedResult, readOf, reasoningOf } from '../listed-result.ts';
import { ExpectedAndGot } from './expected-and-got.tsx';
import { FailureView } from './failure-view.tsx';
import { ItemHistory } from './item-history.tsx';
import { LabelPart } from './label-part.tsx';
import { ScoresOfResult } from './scores-of-result.tsx';
import { SentRequest } from './sent-request.tsx';

/** One result: expected against got, why, and the output that it was read from, with the item below. */
export function ResultPane({
  run,
  result,
  isBlind,
  onClose,
  onStep,
}: {
  readonly run: Run;
  readonly result: ListedResult;
  /** Whether nothing is shown that would tell how the output was scored. */
  readonly isBlind: boolean;
  readonly onClose: () => void;
  /** Opens the result before or after it in the list; undefined where there is none. */
  readonly onStep: { readonly previous: (() => void) | undefined; readonly next: (() => void) | undefined };
}) {
  return (
    <Stack gap={0}>
      <Stack gap="md" p="md">
        <Group gap="sm">
          <CloseButton className="wide-only" aria-label="Close the result" onClick={onClose} />
          <Group gap={0}>
            <Step label="Previous result" Icon={IconChevronUp} onStep={onStep.previous} />
            <Step label="Next result" Icon={IconChevronDown} onStep={onStep.next} />
          </Group>
          {!isBlind && <Outcome result={result} />}
          {result.repetition > 1 && <Dimmed>repetition {result.repetition}</Dimmed>}
        </Group>
        {result.error !== null && <FailureView failure={result.error} what="result" />}
        <ExpectedAndGot result={result} />
        {result.explanation !== null && (
          <Part title="Why">
            <Value value={result.explanation} />
          </Part>
        )}
        {readOf(result) !== undefined && (
          <Part title="Output">
            <Value value={answerIn(result.output)} isCode={result.type === 'code'} />
          </Part>
        )}
        <Reasoning text={reasoningOf(result)} />
        <ScoresOfResult result={result} />
        <LabelPart run={run} result={result} />
        {!isBlind && <SentRequest run={run} result={result} />}
        {!isBlind && result.item_hash !== null && <ItemHistory run={run} itemHash={result.item_hash} />}
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

/** What the model thought before its answer, folded: it was not scored. */
function Reasoning({ text }: { readonly text: string | null }) {
  if (text === null) return null;
  return (
    <details>
      <summary>
        <Text span size="sm">
          Reasoning
        </Text>
      </summary>
      <Value value={text} />
    </details>
  );
}

/** How a result ended, in a line. */
function Outcome({ result }: { readonly result: ListedResult }) {
  return (
    <>
      <StatusBadge status={result.status} />
      {result.passed !== null && (
        <Badge size="sm" color={result.passed ? 'teal' : 'red'} variant="dot">
          {result.passed ? 'right' : 'wrong'}
        </Badge>
      )}
      <Text size="sm">Score {formatScore(result.score)}</Text>
      {result.latency_ms !== null && <Dimmed>{formatDuration(result.latency_ms)}</Dimmed>}
      {result.truncated && (
        <Badge size="sm" color="orange" variant="dot">
          truncated
        </Badge>
      )}
      {result.finish_reason !== null && <Dimmed>{result.finish_reason}</Dimmed>}
      {result.attempts !== null && result.attempts > 1 && <Dimmed>{result.attempts} attempts</Dimmed>}
    </>
  );
}

function Step({
  label,
  Icon,
  onStep,
}: {
  readonly label: string;
  readonly Icon: typeof IconChevronUp;
  readonly onStep: (() => void) | undefined;
}) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      title={label}
      // a disabled button would lose the focus
      aria-disabled={onStep === undefined}
      onClick={onStep}
    >
      <Icon size={16} />
    </ActionIcon>
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
