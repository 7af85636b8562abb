import { Badge, Group, Text } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { IconCheck, IconMinus, IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { questionOf, tagsOf } from '../../datasets/items/item-reading.ts';
import { formatCount, formatDuration, formatScore } from '../../ui/text/formats.ts';
import { plainText } from '../../ui/text/pretty-json.ts';
import type { Result } from '../use-run.ts';

/** A result with what the list shows of its item. */
export interface ListedResult extends Omit<Result, 'item'> {
  readonly question: string;
  readonly expected: string;
  readonly type: string;
  readonly tags: readonly string[];
}

/** Takes from the item of a result what the list shows: whole items would fill the memory. */
export function listedResult({ item, ...result }: Result): ListedResult {
  const whole = (item ?? {}) as JsonObject;
  return {
    ...result,
    question: item == null ? '' : shortText(questionOf(whole)),
    expected: plainText(getMember(whole, 'answer'), 2_000),
    type: plainText(getMember(whole, 'type'), 40),
    tags: tagsOf(whole).slice(0, 5),
  };
}

interface ResultColumn {
  readonly key: string;
  readonly label: string;
  /** As in `grid-template-columns`. */
  readonly width: string;
  readonly minWidth: number;
  readonly isNumber?: boolean;
  readonly cell: (result: ListedResult) => ReactNode;
}

const text = (minWidth: number, share: number): Pick<ResultColumn, 'width' | 'minWidth'> => ({
  width: `minmax(${minWidth}px, ${share}fr)`,
  minWidth,
});
const fixed = (width: number): Pick<ResultColumn, 'width' | 'minWidth'> => ({
  width: `${width}px`,
  minWidth: width,
});

/** What the list of results can show. */
export const RESULT_COLUMNS: readonly ResultColumn[] = [
  { key: 'id', label: 'Id', ...text(70, 0.6), cell: (result) => idOf(result) },
  { key: 'question', label: 'Question', ...text(140, 2), cell: ({ question }) => question },
  { key: 'expected', label: 'Expected', ...text(80, 0.8), cell: ({ expected }) => shortText(expected) },
  { key: 'got', label: 'Got', ...text(120, 1.6), cell: gotOf },
  { key: 'why', label: 'Why', ...text(100, 1), cell: ({ explanation }) => shortText(explanation) },
  { key: 'score', label: 'Score', ...fixed(52), isNumber: true, cell: ({ score }) => formatScore(score) },
  {
    key: 'latency',
    label: 'Latency',
    ...fixed(64),
    isNumber: true,
    cell: ({ latency_ms }) => (latency_ms === null ? '–' : formatDuration(latency_ms)),
  },
  { key: 'tokens', label: 'Tokens', ...fixed(60), isNumber: true, cell: tokensOf },
  {
    key: 'tags',
    label: 'Tags',
    ...text(90, 0.8),
    cell: ({ tags }) => (
      <Group gap={4} wrap="nowrap">
        {tags.map((tag) => (
          <Badge key={tag} size="xs" variant="default" tt="none">
            {tag}
          </Badge>
        ))}
      </Group>
    ),
  },
  { key: 'type', label: 'Type', ...fixed(100), cell: ({ type }) => type },
  { key: 'section', label: 'Section', ...text(80, 0.5), cell: ({ section }) => section },
  { key: 'finish', label: 'Finish reason', ...fixed(90), cell: ({ finish_reason }) => finish_reason ?? '–' },
];

const DEFAULT_COLUMNS = ['id', 'question', 'expected', 'got', 'why', 'score', 'latency'];

/** The chosen columns, in the order of all columns. */
export function columnsOf(chosen: string | undefined): readonly ResultColumn[] {
  const keys = chosen?.split(',') ?? DEFAULT_COLUMNS;
  const found = RESULT_COLUMNS.filter(({ key }) => keys.includes(key));
  return found.length === 0 ? RESULT_COLUMNS.filter(({ key }) => DEFAULT_COLUMNS.includes(key)) : found;
}

/** How a result ended, as a mark with a colour. */
export function Mark({
  result: { status, passed },
}: {
  readonly result: Pick<ListedResult, 'status' | 'passed'>;
}) {
  if (passed === true)
    return <IconCheck role="img" size={16} color="var(--mantine-color-teal-6)" aria-label="right" />;
  if (passed === false)
    return <IconX role="img" size={16} color="var(--mantine-color-red-6)" aria-label="wrong" />;
  return (
    <IconMinus
      role="img"
      size={16}
      color="var(--mantine-color-orange-6)"
      aria-label={status === 'failed' ? 'no answer' : 'not scored'}
    />
  );
}

/** The cells of a row. */
export function ResultCells({
  result,
  columns,
}: {
  readonly result: ListedResult;
  readonly columns: readonly ResultColumn[];
}) {
  return (
    <>
      <Mark result={result} />
      {columns.map(({ key, isNumber, cell }) => (
        <Text
          key={key}
          span
          size="sm"
          dir={isNumber === true ? undefined : 'auto'}
          ta={isNumber === true ? 'end' : undefined}
          className={isNumber === true ? 'numbers' : undefined}
        >
          {cell(result)}
        </Text>
      ))}
    </>
  );
}

/** What a cell shows, which is also read out. */
const MAX_CELL = 120;
const shortText = (value: JsonValue | undefined): string => plainText(value, MAX_CELL);

const idOf = ({ item_id, order_index }: ListedResult): string =>
  plainText((item_id ?? order_index) as JsonValue);

function gotOf({ status, error, output }: ListedResult): string {
  return shortText(status === 'failed' ? error?.message : (output as JsonValue));
}

function tokensOf({ usage }: ListedResult): string {
  const tokens = isJsonObject(usage as JsonValue)
    ? ['total_tokens', 'output_tokens', 'completion_tokens'].map((name) =>
        getMember(usage as JsonObject, name),
      )
    : [];
  const total = tokens.find((value) => typeof value === 'number');
  return total === undefined ? '–' : formatCount(total);
}
