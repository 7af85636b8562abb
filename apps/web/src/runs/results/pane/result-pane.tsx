import { ActionIcon, Badge, CloseButton, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { ItemViewer } from '../../../datasets/items/item-viewer.tsx';
import { useItem } from '../../../datasets/items/use-item.ts';
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
  const { item_hash, section, order_index } = result;
  const found = useItem({ id: run.dataset_id, version: run.dataset_version }, item_hash ?? undefined);
  // until it is read, the one before it stays
  const item = found.data?.item_hash === item_hash ? ((found.data?.item ?? null) as JsonObject | null) : null;
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
        <ExpectedAndGot result={result} item={item} />
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
        {!isBlind && item_hash !== null && <ItemHistory run={run} itemHash={item_hash} />}
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
      {found.error !== null && <ErrorView error={found.error} />}
      {found.isLoading && <PageSkeleton rows={4} />}
      {item !== null && item_hash !== null && (
        <ItemViewer
          item={item}
          datasetId={run.dataset_id}
          section={section}
          orderIndex={order_index}
          hash={item_hash}
        />
      )}
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
