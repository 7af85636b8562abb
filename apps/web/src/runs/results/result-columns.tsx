import { Group } from '@mantine/core';
import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { inputOf, tagsOf } from '../../datasets/items/item-reading.ts';
import { pointerName, valueAt } from '../../ui/pointer-of.ts';
import { ItemId, Tags } from '../../ui/table/cells.tsx';
import { type Column, type KeyedColumn, keyed } from '../../ui/table/table-model.ts';
import { formatCount, formatDuration, formatScore, plainText, textOrJson } from '../../ui/text/formats.ts';
import type { Result } from '../queries.ts';
import {
  gotOf,
  type ListedResult,
  Mark,
  outcomeOf,
  outputTokensOf,
  shortText,
  whyOf,
} from './listed-result.tsx';

/** What the list shows of a result, what the result has there whole, and the name of its order where the service has one. */
interface ResultColumn extends Column<ListedResult> {
  readonly key: string;
  readonly whole: (result: Result, item: JsonObject) => unknown;
  readonly order?: string;
}

const text = (
  [key, label, size, share]: readonly [key: string, label: string, size: number, share: number],
  of: (result: Result | ListedResult) => unknown,
  more: Partial<ResultColumn> = {},
): ResultColumn => ({
  ...{ key, label, size, share, whole: of },
  cell: (result) => shortText(of(result) as JsonValue | undefined),
  ...more,
});

const number = (
  [key, label, size]: readonly [key: string, label: string, size: number],
  of: (result: Result | ListedResult) => number | null,
  format: (value: number) => string,
  more: Partial<ResultColumn> = {},
): ResultColumn => ({
  ...{ key, label, size, isNumber: true, order: key, whole: of },
  cell: (result) => {
    const value = of(result);
    return value === null ? '–' : format(value);
  },
  ...more,
});

const COST_DIGITS = 3;

const RESULT_COLUMNS: readonly ResultColumn[] = [
  text(['id', 'Id', 96, 0.8], ({ item_id, section, order_index }) => item_id ?? `${section} ${order_index}`, {
    order: 'order',
    cell: ({ item_id, order_index }) => <ItemId id={plainText((item_id ?? order_index) as JsonValue)} />,
  }),
  {
    ...{ key: 'question', label: 'Question', size: 140, share: 2, order: 'question' },
    cell: ({ question }) => question,
    whole: (_, item) => inputOf(item, 'prompt') ?? inputOf(item, 'messages'),
  },
  {
    ...{ key: 'expected', label: 'Expected', size: 80, share: 0.8, order: 'expected' },
    cell: ({ expected }) => expected,
    whole: (_, item) => getMember(item, 'answer'),
  },
  text(['got', 'Got', 120, 1.6], gotOf, { order: 'got' }),
  text(['output', 'Output', 120, 1.6], ({ output }) => output),
  text(['why', 'Why', 100, 1], whyOf, { isOptional: true }),
  number(['score', 'Score', 64], ({ score }) => score, formatScore, { isOptional: true }),
  number(['latency', 'Latency', 76], ({ latency_ms }) => latency_ms, formatDuration, { isOptional: true }),
  number(['tokens', 'Output tokens', 112], outputTokensOf, formatCount, { order: 'output_tokens' }),
  number(
    ['cost', 'Cost', 84],
    ({ cost }) => cost,
    (cost) => String(Number(cost.toPrecision(COST_DIGITS))),
  ),
  {
    ...{ key: 'tags', label: 'Tags', size: 90, share: 0.8, order: 'tags' },
    cell: ({ tags }) => <Tags tags={tags} />,
    whole: (_, item) => tagsOf(item).join(', '),
  },
  {
    ...{ key: 'type', label: 'Type', size: 100, order: 'type' },
    cell: ({ type }) => type,
    whole: (_, item) => getMember(item, 'type'),
  },
  text(['section', 'Section', 80, 0.5], ({ section }) => section),
  text(['label', 'Label', 76, 0], ({ labels }) => labelText(labels), { order: 'label' }),
  text(['finish', 'Finish reason', 90, 0], ({ finish_reason }) => finish_reason, {
    cell: ({ finish_reason }) => finish_reason ?? '–',
  }),
];

const SCORER_KEY = /^scorer\.(.+)$/;

/** The key of the column of a member of the metadata, by its JSON Pointer: an address joins keys by commas. */
export const metaKey = (pointer: string): string => `meta.${pointer.replaceAll(/[%,]/g, encodeURIComponent)}`;

/** The pointer into the metadata whose column has a key; undefined for other columns. */
export const metaPointerOf = (key: string): string | undefined =>
  key.startsWith('meta./')
    ? key.slice('meta.'.length).replaceAll('%2C', ',').replaceAll('%25', '%')
    : undefined;

/** The name that the service has for the order by a column; undefined where it has none. */
export function orderOf(key: string): string | undefined {
  const scorer = SCORER_KEY.exec(key)?.[1];
  if (scorer !== undefined) return `scorer:${scorer}`;
  const pointer = metaPointerOf(key);
  if (pointer !== undefined) return `meta.${pointer}`;
  return RESULT_COLUMNS.find((column) => column.key === key)?.order;
}

/** What a result has in a column of the list, whole; the list itself shows the beginning. */
export function cellText(key: string, result: Result): string {
  const item = (result.item ?? {}) as JsonObject;
  const scorer = SCORER_KEY.exec(key)?.[1];
  const pointer = metaPointerOf(key);
  const value =
    scorer !== undefined
      ? result.scores?.[scorer]?.score
      : pointer !== undefined
        ? valueAt(getMember(item, 'meta'), pointer)
        : RESULT_COLUMNS.find((column) => column.key === key)?.whole(result, item);
  return value === null ? '' : textOrJson(value as JsonValue | undefined);
}

const DEFAULT_COLUMNS = ['id', 'question', 'expected', 'got', 'why', 'score', 'latency'];

/** What a blind sample shows without a choice. */
export const BLIND_COLUMNS: readonly string[] = ['id', 'question', 'expected', 'output'];

/** Columns that tell how an output was scored, or how it was made. */
const TELLING: ReadonlySet<string> = new Set(['got', 'why', 'score', 'latency', 'tokens', 'cost', 'finish']);

const MAX_DEFAULT_SCORERS = 4;

/** What is shown without a choice: of a run with several scorers the score of each. */
export const defaultColumns = (scorers: readonly string[]): readonly string[] =>
  DEFAULT_COLUMNS.flatMap((key) =>
    key === 'score' && scorers.length > 0
      ? scorers.slice(0, MAX_DEFAULT_SCORERS).map((name) => `scorer.${name}`)
      : [key],
  );

const MAX_META_KEYS = 2_000;

/** What the list of results can show: also the score of each scorer, and each of some pointers into the metadata. */
export function resultColumns(
  pointers: readonly string[],
  scorers: readonly string[],
  isBlind: boolean,
  /** The scorer whose outcome marks each row; the main one by default. */
  scorer: string | undefined,
): readonly KeyedColumn<ListedResult>[] {
  const columns: readonly Column<ListedResult>[] = [
    ...RESULT_COLUMNS.filter(({ key }) => !isBlind || !TELLING.has(key)),
    ...(isBlind ? [] : scorers).map((name) => ({
      key: `scorer.${name}`,
      label: name,
      size: 84,
      isNumber: true,
      cell: ({ scores }: ListedResult) => <ScorerCell score={scores?.[name]} />,
    })),
    ...pointers.slice(0, MAX_META_KEYS).map((pointer) => ({
      key: metaKey(pointer),
      ...{ label: pointerName(pointer), size: 90, share: 0.8 },
      cell: ({ meta }: ListedResult) => meta[pointer] ?? '',
    })),
  ];
  const sorted = columns.map((column) => ({
    ...column,
    isSorted: !isBlind && orderOf(column.key ?? '') !== undefined,
  }));
  const mark: Column<ListedResult> = {
    key: 'mark',
    label: isBlind ? 'Labelled' : 'Outcome',
    isLabelHidden: true,
    isAlways: true,
    size: 30,
    cell: (result) =>
      isBlind ? <LabelMark labels={result.labels} /> : <Mark result={outcomeOf(result, scorer)} />,
  };
  return [mark, ...sorted].map(keyed);
}

/** In a blind sample: what was labelled, as a mark. */
function LabelMark({ labels }: Pick<ListedResult, 'labels'>) {
  const says = labelText(labels);
  return (
    (says === 'right' || says === 'wrong') && <Mark result={{ status: 'ok', passed: says === 'right' }} />
  );
}

function ScorerCell({ score }: { readonly score: NonNullable<Result['scores']>[string] | undefined }) {
  if (score === undefined) return '–';
  return (
    <Group component="span" gap={4} wrap="nowrap" justify="flex-end">
      {score.passed !== null && <Mark result={{ status: 'ok', passed: score.passed }} />}
      {formatScore(score.score)}
    </Group>
  );
}

/** The newest verdict of people. */
function labelText(labels: ListedResult['labels']): string {
  const verdict = labels.find((label) => label.verdict !== null)?.verdict;
  if (verdict === undefined) return labels.length === 0 ? '' : 'noted';
  return verdict === 'pass' ? 'right' : 'wrong';
}
