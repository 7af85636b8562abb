import { Group } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { pointerName } from '../../ui/pointer-of.ts';
import { type Column, type KeyedColumn, keyed } from '../../ui/table/table-model.ts';
import { formatCount, formatDuration, formatScore } from '../../ui/text/formats.ts';
import { ItemId, Tags } from '../../ui/text/item-id.tsx';
import { plainText } from '../../ui/text/pretty-json.ts';
import type { Result } from '../queries.ts';
import { gotOf, type ListedResult, outputTokensOf, shortText, whyOf } from './listed-result.ts';
import { Mark, outcomeOf } from './mark.tsx';
import { metaKey, SORTED_COLUMNS } from './results-query.ts';

/** A column that takes a share of the room, or keeps its width. */
const text = (size: number, share: number) => ({ size, share });
const fixed = (size: number) => ({ size });

const CELL_COST_DIGITS = 3;

const RESULT_COLUMNS: readonly (Column<ListedResult> & { readonly key: string })[] = [
  { key: 'id', label: 'Id', ...text(96, 0.8), cell: (result) => <ItemId id={idOf(result)} /> },
  { key: 'question', label: 'Question', ...text(140, 2), cell: ({ question }) => question },
  { key: 'expected', label: 'Expected', ...text(80, 0.8), cell: ({ expected }) => expected },
  { key: 'got', label: 'Got', ...text(120, 1.6), cell: (result) => shortText(gotOf(result)) },
  {
    key: 'output',
    label: 'Output',
    ...text(120, 1.6),
    cell: ({ output }) => shortText(output as JsonValue),
  },
  { key: 'why', label: 'Why', ...text(100, 1), isOptional: true, cell: (result) => shortText(whyOf(result)) },
  {
    key: 'score',
    label: 'Score',
    ...fixed(64),
    isNumber: true,
    isOptional: true,
    cell: ({ score }) => formatScore(score),
  },
  {
    key: 'latency',
    label: 'Latency',
    ...fixed(76),
    isNumber: true,
    isOptional: true,
    cell: ({ latency_ms }) => formatDuration(latency_ms),
  },
  {
    key: 'tokens',
    label: 'Output tokens',
    ...fixed(112),
    isNumber: true,
    cell: (result) => {
      const tokens = outputTokensOf(result);
      return tokens === null ? '–' : formatCount(tokens);
    },
  },
  {
    key: 'cost',
    label: 'Cost',
    ...fixed(84),
    isNumber: true,
    cell: ({ cost }) => (cost === null ? '–' : String(Number(cost.toPrecision(CELL_COST_DIGITS)))),
  },
  {
    key: 'tags',
    label: 'Tags',
    ...text(90, 0.8),
    cell: ({ tags }) => <Tags tags={tags} />,
  },
  { key: 'type', label: 'Type', ...fixed(100), cell: ({ type }) => type },
  { key: 'section', label: 'Section', ...text(80, 0.5), cell: ({ section }) => section },
  { key: 'label', label: 'Label', ...fixed(76), cell: ({ labels }) => labelText(labels) },
  { key: 'finish', label: 'Finish reason', ...fixed(90), cell: ({ finish_reason }) => finish_reason ?? '–' },
];

const DEFAULT_COLUMNS = ['id', 'question', 'expected', 'got', 'why', 'score', 'latency'];

/** What a blind sample shows without a choice. */
export const BLIND_COLUMNS: readonly string[] = ['id', 'question', 'expected', 'output'];

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

/** More keys of metadata are not offered. */
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
      ...fixed(84),
      isNumber: true,
      isSorted: true,
      cell: ({ scores }: ListedResult) => <ScorerCell score={scores?.[name]} />,
    })),
    ...pointers.slice(0, MAX_META_KEYS).map((pointer) => ({
      key: metaKey(pointer),
      label: pointerName(pointer),
      ...text(90, 0.8),
      isSorted: true,
      cell: ({ meta }: ListedResult) => meta[pointer] ?? '',
    })),
  ];
  const sorted = columns.map((column) => ({
    ...column,
    isSorted: !isBlind && (column.isSorted === true || (column.key ?? '') in SORTED_COLUMNS),
  }));
  const mark: Column<ListedResult> = {
    key: 'mark',
    label: isBlind ? 'Labelled' : 'Outcome',
    isLabelHidden: true,
    isAlways: true,
    ...fixed(30),
    cell: (result) =>
      isBlind ? <LabelMark labels={result.labels} /> : <Mark result={outcomeOf(result, scorer)} />,
  };
  return [mark, ...sorted].map(keyed);
}

/** In a blind sample: what was labelled, as a mark. */
function LabelMark({ labels }: Pick<ListedResult, 'labels'>) {
  const verdict = labels.find((label) => label.verdict !== null)?.verdict;
  return verdict === undefined || verdict === null ? null : (
    <Mark result={{ status: 'ok', passed: verdict === 'pass' }} />
  );
}

/** What a scorer says of a result; undefined if it has not scored it. */
type Scored = NonNullable<Result['scores']>[string] | undefined;

function ScorerCell({ score }: { readonly score: Scored }) {
  if (score === undefined) return '–';
  return (
    <Group component="span" gap={4} wrap="nowrap" justify="flex-end">
      {score.passed !== null && <Mark result={{ status: 'ok', passed: score.passed }} />}
      {formatScore(score.score)}
    </Group>
  );
}

/** The newest verdict of people. */
export function labelText(labels: ListedResult['labels']): string {
  const verdict = labels.find((label) => label.verdict !== null)?.verdict;
  if (verdict === undefined) return labels.length === 0 ? '' : 'noted';
  return verdict === 'pass' ? 'right' : 'wrong';
}

const idOf = ({ item_id, order_index }: ListedResult): string =>
  plainText((item_id ?? order_index) as JsonValue);
