import {
  ActionIcon,
  Badge,
  CloseButton,
  Group,
  SimpleGrid,
  Spoiler,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core';
import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { ItemViewer, Question } from '../../../datasets/items/item-viewer.tsx';
import { itemQuery } from '../../../datasets/queries.ts';
import { LinkAnchor } from '../../../ui/buttons.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { Folded, Part } from '../../../ui/layout/page.tsx';
import { ErrorView } from '../../../ui/query-state.tsx';
import { DiffedText, sharesWords } from '../../../ui/text/diffed-text.tsx';
import { Dimmed } from '../../../ui/text/dimmed.ts';
import { formatCount, formatDuration, formatScore, plainText, present } from '../../../ui/text/formats.ts';
import { Value } from '../../../ui/text/rich-text.tsx';
import { FailureActions } from '../../failure-actions.tsx';
import type { Run } from '../../queries.ts';
import {
  answerIn,
  gotOf,
  type ListedResult,
  Mark,
  outcomeText,
  readOf,
  reasoningOf,
  resultKey,
} from '../listed-result.tsx';
import { FailureView } from './failure-view.tsx';
import { ItemHistory } from './item-history.tsx';
import { LabelBar } from './label-bar.tsx';
import { SentRequest } from './sent-request.tsx';

/** One result in the order of thought: first its question; what else there is is folded. Its labels stay at the foot. */
export function ResultPane(props: {
  readonly run: Run;
  readonly result: ListedResult;
  /** Whether nothing is shown that would tell how the output was scored. */
  readonly isBlind: boolean;
  /** Its place in the list, and how many results that has; undefined if it is not in the list. */
  readonly place: readonly [at: number, total: number] | undefined;
  readonly onClose: () => void;
  readonly onStep: { readonly previous: (() => void) | undefined; readonly next: (() => void) | undefined };
}) {
  const { run, result, isBlind, place, onClose, onStep } = props;
  const { item_hash, item_id, section, order_index, repetition } = result;
  const name = plainText((item_id ?? order_index) as JsonValue);
  const found = useQuery(
    itemQuery({ id: run.dataset_id, version: run.dataset_version }, item_hash ?? undefined),
  );
  // until it is read, the one before it stays
  const item = found.data?.item_hash === item_hash ? ((found.data?.item ?? null) as JsonObject | null) : null;
  return (
    <div className="result-pane">
      <Group gap={6} className="result-head" wrap="nowrap">
        <Title order={2} size="sm" className="ellipsis" dir="auto" title={name}>
          {name}
          {repetition > 1 && `, repetition ${repetition}`}
        </Title>
        {!isBlind && <Outcome result={result} />}
        <Group gap={2} ms="auto" wrap="nowrap">
          {place !== undefined && (
            <Dimmed size="xs" className="one-line numbers">
              {formatCount(place[0])} of {formatCount(place[1])}
            </Dimmed>
          )}
          {(['previous', 'next'] as const).map((which) => (
            <ActionIcon
              key={which}
              variant="subtle"
              color="gray"
              aria-label={STEPS[which]}
              title={STEPS[which]}
              // a disabled button would lose the focus
              aria-disabled={onStep[which] === undefined}
              onClick={onStep[which]}
            >
              {which === 'next' ? <Icon name="chevronDown" size={16} /> : <Icon name="chevronUp" size={16} />}
            </ActionIcon>
          ))}
          <CloseButton size="sm" className="wide-only" aria-label="Close the result" onClick={onClose} />
        </Group>
      </Group>
      <Stack gap="sm" p="sm" className="result-body">
        {result.error !== null && <FailureView failure={result.error} what="result" />}
        {found.error !== null && <ErrorView error={found.error} />}
        <Part title="Question">
          <Spoiler
            key={resultKey(result)}
            maxHeight={QUESTION_HEIGHT}
            showLabel="The whole question"
            hideLabel="Less"
          >
            {item === null ? (
              <Value value={result.question} />
            ) : (
              <Question item={item} datasetId={run.dataset_id} />
            )}
          </Spoiler>
        </Part>
        <ExpectedAndGot result={result} item={item} />
        <Part title="Why">{result.explanation !== null && <Value value={result.explanation} />}</Part>
        <Part title="Output">
          {readOf(result) !== undefined && (
            <Value value={answerIn(result.output)} isCode={result.type === 'code'} />
          )}
        </Part>
        <Folded title="Reasoning" of={reasoningOf(result)}>
          {(text) => <Value value={text} />}
        </Folded>
        {!isBlind && item !== null && <FailureActions run={run} result={result} item={item} />}
        <ScoresOfResult result={result} />
        {!isBlind && <SentRequest run={run} result={result} />}
        {!isBlind && item_hash !== null && <ItemHistory run={run} itemHash={item_hash} />}
        <Folded title="Files that the model was not sent" of={result.omitted_assets}>
          {(files) => (
            <Text size="sm" className="break">
              {files.join(', ')}
            </Text>
          )}
        </Folded>
        <Folded title="Usage" of={result.usage}>
          {(usage) => (
            // counts of tokens: `7 prompt tokens, 12 completion tokens`
            <Text size="sm">
              {Object.entries(usage as JsonObject)
                .map(([name, value]) => `${plainText(value)} ${name.replaceAll('_', ' ')}`)
                .join(', ')}
            </Text>
          )}
        </Folded>
        <Folded title="Item" of={item}>
          {(whole) => (
            <>
              <LinkAnchor
                to="/datasets/$id"
                params={{ id: run.dataset_id }}
                search={{ item: item_hash ?? undefined }}
                size="sm"
                ms="md"
              >
                The item in the dataset as it is now
              </LinkAnchor>
              <ItemViewer
                item={whole}
                datasetId={run.dataset_id}
                section={section}
                orderIndex={order_index}
                hash={item_hash ?? ''}
              />
            </>
          )}
        </Folded>
      </Stack>
      <LabelBar run={run} result={result} onNext={onStep.next} />
    </div>
  );
}

const STEPS = { previous: 'Previous result', next: 'Next result' } as const;

/** Pixels of eight lines. */
const QUESTION_HEIGHT = 190;

/** What was expected next to what came, with what differs marked where a wrong text has something of the right one. */
export function ExpectedAndGot(props: {
  readonly result: ListedResult;
  /** The whole item; null if it is absent: the expected answer is then the beginning in the list. */
  readonly item: JsonObject | null;
}) {
  const { result, item } = props;
  const expected = item === null ? result.expected || null : (getMember(item, 'answer') ?? null);
  const isCode = result.type === 'code';
  const got = gotOf(result) ?? null;
  const compared =
    item !== null && result.passed === false && typeof expected === 'string' && typeof got === 'string'
      ? { before: expected, after: got }
      : null;
  const isDiff = compared !== null && sharesWords(compared.before, compared.after);
  return (
    <SimpleGrid cols={{ base: 1, xs: expected === null || got === null ? 1 : 2 }}>
      {expected !== null && (
        <Part title="Expected">
          {isDiff ? (
            <DiffedText text={compared.before} {...compared} side="removed" />
          ) : (
            <Value value={expected} isCode={isCode} />
          )}
        </Part>
      )}
      {got !== null && (
        <Part title={readOf(result) === undefined ? 'Output' : 'Got'}>
          {isDiff ? (
            <DiffedText text={compared.after} {...compared} side="added" />
          ) : (
            <Value value={got} isCode={isCode} />
          )}
        </Part>
      )}
    </SimpleGrid>
  );
}

function Outcome({ result }: { readonly result: ListedResult }) {
  const { passed, score, latency_ms, finish_reason, attempts } = result;
  const details = present([
    score !== null && score !== Number(passed) && `score ${formatScore(score)}`,
    latency_ms !== null && formatDuration(latency_ms),
    finish_reason !== null && finish_reason !== 'stop' && `ended by ${finish_reason}`,
    result.truncated && 'cut at its limit',
    attempts !== null && attempts > 1 && `${attempts} attempts`,
  ]);
  return (
    <>
      <Badge size="sm" className="whole" color={OUTCOME_COLORS[outcomeText(result)] ?? 'gray'} variant="dot">
        {outcomeText(result)}
      </Badge>
      <Dimmed size="xs" className="ellipsis">
        {details.join(', ')}
      </Dimmed>
    </>
  );
}

const OUTCOME_COLORS: Readonly<Record<string, string>> = {
  right: 'teal',
  wrong: 'red',
  'no answer': 'orange',
};

function ScoresOfResult({ result: { status, scores } }: { readonly result: ListedResult }) {
  const names = Object.keys(scores ?? {});
  if (names.length === 0) return null;
  return (
    <Part title="Scores">
      <Table w="auto" tabularNums verticalSpacing={4}>
        <Table.Tbody>
          {names.map((name) => {
            const { score, passed = null, explanation = null, scored_by = null } = scores?.[name] ?? {};
            return (
              <Table.Tr key={name}>
                <Table.Td>
                  <Mark result={{ status: passed === null ? status : 'ok', passed }} />
                </Table.Td>
                <Table.Th>{name}</Table.Th>
                <Table.Td>{formatScore(score)}</Table.Td>
                <Table.Td className="break lines" dir="auto">
                  {scores?.[name]?.error?.message ?? explanation}
                </Table.Td>
                <Table.Td c="dimmed">{scored_by}</Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Part>
  );
}
