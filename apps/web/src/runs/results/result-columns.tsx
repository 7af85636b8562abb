import { Badge, Group, Text } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { IconCheck, IconMinus, IconX } from '@tabler/icons-react';
import type { CSSProperties, ReactNode } from 'react';
import { questionOf, tagsOf } from '../../datasets/items/item-reading.ts';
import type { ViewColumn } from '../../ui/table/view-columns.ts';
import { formatCount, formatDuration, formatScore } from '../../ui/text/formats.ts';
import { plainText, prettyJson } from '../../ui/text/pretty-json.ts';
import type { Result } from '../use-run.ts';

/** A result with what the list shows of its item. */
export interface ListedResult extends Omit<Result, 'item'> {
  readonly question: string;
  readonly expected: string;
  /** The beginning of what is expected, with its lines; null without one. */
  readonly answer: { readonly text: string; readonly isText: boolean } | null;
  readonly type: string;
  readonly tags: readonly string[];
  /** Beginnings of the values of the metadata. */
  readonly meta: Readonly<Record<string, string>>;
}

/** What a blind sample does not tell. */
const UNTOLD = {
  ...{ status: 'unscored', passed: null, score: null, scores: null, scored_by: null, explanation: null },
  ...{ error: null, latency_ms: null, usage: null, cost: null, finish_reason: null, truncated: false },
  ...{ attempts: null, omitted_assets: null },
} as const satisfies Partial<Result>;

/** Takes from the item of a result what the list shows: whole items would fill the memory. */
export function listedResult({ item, ...result }: Result): ListedResult {
  const whole = (item ?? {}) as JsonObject;
  return {
    ...UNTOLD,
    ...result,
    question: item == null ? '' : shortText(questionOf(whole)),
    expected: plainText(getMember(whole, 'answer'), MAX_ANSWER),
    answer: answerOf(getMember(whole, 'answer')),
    type: plainText(getMember(whole, 'type'), 40),
    tags: tagsOf(whole).slice(0, 5),
    meta: metaOf(whole),
  };
}

const MAX_ANSWER = 2_000;

function answerOf(answer: JsonValue | undefined): ListedResult['answer'] {
  if (answer === undefined || answer === null) return null;
  const isText = typeof answer === 'string';
  return { text: (isText ? answer : prettyJson(answer)).slice(0, MAX_ANSWER), isText };
}

export interface ResultColumn extends ViewColumn {
  /** Of the room that columns share which were not resized; 0 for a column that keeps its width. */
  readonly share: number;
  readonly isNumber?: boolean;
  readonly cell: (result: ListedResult) => ReactNode;
}

const text = (size: number, share: number): Pick<ResultColumn, 'size' | 'share'> => ({ size, share });
const fixed = (size: number): Pick<ResultColumn, 'size' | 'share'> => ({ size, share: 0 });

const CELL_COST_DIGITS = 3;

const RESULT_COLUMNS: readonly ResultColumn[] = [
  { key: 'id', label: 'Id', ...text(70, 0.6), cell: (result) => idOf(result) },
  { key: 'question', label: 'Question', ...text(140, 2), cell: ({ question }) => question },
  { key: 'expected', label: 'Expected', ...text(80, 0.8), cell: ({ expected }) => shortText(expected) },
  { key: 'got', label: 'Got', ...text(120, 1.6), cell: (result) => shortText(gotOf(result)) },
  {
    key: 'output',
    label: 'Output',
    ...text(120, 1.6),
    cell: ({ output }) => shortText(output as JsonValue),
  },
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
    key: 'cost',
    label: 'Cost',
    ...fixed(76),
    isNumber: true,
    cell: ({ cost }) => (cost === null ? '–' : String(Number(cost.toPrecision(CELL_COST_DIGITS)))),
  },
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
  { key: 'label', label: 'Label', ...fixed(76), cell: ({ labels }) => labelText(labels) },
  { key: 'finish', label: 'Finish reason', ...fixed(90), cell: ({ finish_reason }) => finish_reason ?? '–' },
];

const DEFAULT_COLUMNS = ['id', 'question', 'expected', 'got', 'why', 'score', 'latency'];

/** What a blind sample shows without a choice. */
export const BLIND_COLUMNS: readonly string[] = ['id', 'question', 'expected', 'output', 'label'];

/** Columns that tell how an output was scored, or how it was made. */
const TELLING: ReadonlySet<string> = new Set(['got', 'why', 'score', 'latency', 'tokens', 'cost', 'finish']);

/** Scorers whose columns are shown without a choice. */
const MAX_DEFAULT_SCORERS = 4;

/** What is shown without a choice: of a run with several scorers the score of each. */
export const defaultColumns = (scorers: readonly string[]): readonly string[] =>
  DEFAULT_COLUMNS.flatMap((key) =>
    key === 'score' && scorers.length > 0
      ? scorers.slice(0, MAX_DEFAULT_SCORERS).map((name) => `scorer.${name}`)
      : [key],
  );

/** The key of the column of a scorer. */
export const scorerKey: RegExp = /^scorer\.(.+)$/;

/** Columns by which the service orders results, with its names for them. */
export const SORTED_COLUMNS: Readonly<Record<string, string>> = {
  id: 'order',
  score: 'score',
  latency: 'latency',
  tokens: 'output_tokens',
  cost: 'cost',
};

/** More keys of metadata are not offered. */
const MAX_META_KEYS = 40;

/** What the list of results can show: also the score of each scorer, and each of some keys of the metadata. */
export function resultColumns(
  metaKeys: readonly string[],
  scorers: readonly string[],
  isBlind: boolean,
): readonly ResultColumn[] {
  const ofMeta = metaKeys.filter((name) => !name.includes(',')).slice(0, MAX_META_KEYS);
  return [
    ...RESULT_COLUMNS.filter(({ key }) => !isBlind || !TELLING.has(key)),
    ...(isBlind ? [] : scorers).map((name) => ({
      key: `scorer.${name}`,
      label: name,
      ...fixed(84),
      isNumber: true,
      cell: ({ scores }: ListedResult) => <ScorerCell score={scores?.[name]} />,
    })),
    ...ofMeta.map((name) => ({
      key: `meta.${name}`,
      label: name,
      ...text(90, 0.8),
      cell: ({ meta }: ListedResult) => meta[name] ?? '',
    })),
  ];
}

/** What a scorer says of a result; undefined where it has not scored it. */
type Scored = NonNullable<Result['scores']>[string] | undefined;

/** The outcome of a result as one scorer sees it; as the main one does without a name. */
export function outcomeOf(
  { status, passed, scores }: Pick<ListedResult, 'status' | 'passed' | 'scores'>,
  scorer: string | undefined,
): Pick<ListedResult, 'status' | 'passed'> {
  if (scorer === undefined) return { status, passed };
  const scored = scores?.[scorer]?.passed ?? null;
  return { status: status === 'failed' || scored !== null ? status : 'unscored', passed: scored };
}

function ScorerCell({ score }: { readonly score: Scored }) {
  if (score === undefined) return '–';
  return (
    <Group component="span" gap={4} wrap="nowrap" justify="flex-end">
      {score.passed !== null && <Mark result={{ status: 'ok', passed: score.passed }} />}
      {formatScore(score.score)}
    </Group>
  );
}

/** How a result ended, in words. */
export function outcomeText({ status, passed }: Pick<ListedResult, 'status' | 'passed'>): string {
  if (passed !== null) return passed ? 'right' : 'wrong';
  return status === 'failed' ? 'no answer' : 'not scored';
}

/** How a result ended, as a mark with a colour. */
export function Mark({ result }: { readonly result: Pick<ListedResult, 'status' | 'passed'> }) {
  const [Icon, color] =
    result.passed === null ? [IconMinus, 'orange'] : result.passed ? [IconCheck, 'teal'] : [IconX, 'red'];
  return (
    <Icon role="img" size={16} color={`var(--mantine-color-${color}-6)`} aria-label={outcomeText(result)} />
  );
}

/** The cells of a row, in the order of the table. */
export function ResultCells({
  result,
  scorer,
  isBlind,
  columns,
  styleOf,
}: {
  readonly result: ListedResult;
  /** Whose outcome the mark is. */
  readonly scorer: string | undefined;
  /** Whether the outcome is not shown. */
  readonly isBlind: boolean;
  readonly columns: readonly ResultColumn[];
  readonly styleOf: (key: string) => CSSProperties | undefined;
}) {
  return (
    <>
      {isBlind ? <span /> : <Mark result={outcomeOf(result, scorer)} />}
      {columns.map(({ key, isNumber, cell }) => (
        <Text
          key={key}
          span
          size="sm"
          dir={isNumber === true ? undefined : 'auto'}
          ta={isNumber === true ? 'end' : undefined}
          className={isNumber === true ? 'numbers' : undefined}
          style={styleOf(key)}
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

function metaOf(item: JsonObject): Readonly<Record<string, string>> {
  const meta = getMember(item, 'meta');
  if (meta === undefined || !isJsonObject(meta)) return {};
  return Object.fromEntries(Object.entries(meta).map(([name, value]) => [name, shortText(value)]));
}

/** How an address names a result: by the hash of its item, or by its place where the item is gone. */
export function resultKey({
  item_hash,
  section,
  order_index,
  repetition,
}: Pick<Result, 'item_hash' | 'section' | 'order_index' | 'repetition'>): string {
  const item = item_hash ?? `${section} ${order_index}`;
  return repetition === 1 ? item : `${item}.${repetition}`;
}

/** The newest verdict of people. */
function labelText(labels: ListedResult['labels']): string {
  const verdict = labels.find((label) => label.verdict !== null)?.verdict;
  if (verdict === undefined) return labels.length === 0 ? '' : 'noted';
  return verdict === 'pass' ? 'right' : 'wrong';
}

const idOf = ({ item_id, order_index }: ListedResult): string =>
  plainText((item_id ?? order_index) as JsonValue);

/** What a checker says that it took for the answer. */
const READ = /^(?:Read as|Picked) (.+)$/s;

/** What came: as the checker read it, where it says so, else the output, or why there is none. */
export function gotOf({
  status,
  error,
  output,
  explanation,
  scored_by,
}: Pick<Result, 'status' | 'error' | 'output' | 'explanation' | 'scored_by'>): JsonValue | undefined {
  if (status === 'failed') return error?.provider_message ?? error?.message;
  const read = scored_by === 'checker' ? READ.exec(explanation ?? '')?.[1] : undefined;
  return read ?? (output as JsonValue);
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
