import { Badge, Group, Text } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import type { CSSProperties, ReactNode } from 'react';
import type { ViewColumn } from '../../ui/table/view-columns.ts';
import { formatCount, formatDuration, formatScore } from '../../ui/text/formats.ts';
import { ItemId } from '../../ui/text/item-id.tsx';
import { plainText } from '../../ui/text/pretty-json.ts';
import type { Result } from '../use-run.ts';
import { metaKey } from './column-keys.ts';
import { gotOf, type ListedResult, outputTokensOf, shortText, whyOf } from './listed-result.ts';
import { Mark, outcomeOf } from './mark.tsx';

export interface ResultColumn extends ViewColumn {
  /** Share of the width that is left to columns without a fixed one; 0 for a column that keeps its width. */
  readonly share: number;
  readonly isNumber?: boolean;
  readonly cell: (result: ListedResult) => ReactNode;
}

const text = (size: number, share: number): Pick<ResultColumn, 'size' | 'share'> => ({ size, share });
const fixed = (size: number): Pick<ResultColumn, 'size' | 'share'> => ({ size, share: 0 });

const CELL_COST_DIGITS = 3;

const RESULT_COLUMNS: readonly ResultColumn[] = [
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
  { key: 'why', label: 'Why', ...text(100, 1), cell: (result) => shortText(whyOf(result)) },
  { key: 'score', label: 'Score', ...fixed(52), isNumber: true, cell: ({ score }) => formatScore(score) },
  {
    key: 'latency',
    label: 'Latency',
    ...fixed(64),
    isNumber: true,
    cell: ({ latency_ms }) => formatDuration(latency_ms),
  },
  {
    key: 'tokens',
    label: 'Output tokens',
    ...fixed(96),
    isNumber: true,
    cell: (result) => {
      const tokens = outputTokensOf(result);
      return tokens === null ? '–' : formatCount(tokens);
    },
  },
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
          <Badge key={tag} size="xs" variant="default">
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

/** More keys of metadata are not offered. */
const MAX_META_KEYS = 2_000;

/** What the list of results can show: also the score of each scorer, and each of some keys of the metadata. */
export function resultColumns(
  metaKeys: readonly string[],
  scorers: readonly string[],
  isBlind: boolean,
): readonly ResultColumn[] {
  return [
    ...RESULT_COLUMNS.filter(({ key }) => !isBlind || !TELLING.has(key)),
    ...(isBlind ? [] : scorers).map((name) => ({
      key: `scorer.${name}`,
      label: name,
      ...fixed(84),
      isNumber: true,
      cell: ({ scores }: ListedResult) => <ScorerCell score={scores?.[name]} />,
    })),
    ...metaKeys.slice(0, MAX_META_KEYS).map((name) => ({
      key: metaKey(name),
      label: name,
      ...text(90, 0.8),
      cell: ({ meta }: ListedResult) => meta[name] ?? '',
    })),
  ];
}

/** What a scorer says of a result; undefined where it has not scored it. */
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

/** The newest verdict of people. */
export function labelText(labels: ListedResult['labels']): string {
  const verdict = labels.find((label) => label.verdict !== null)?.verdict;
  if (verdict === undefined) return labels.length === 0 ? '' : 'noted';
  return verdict === 'pass' ? 'right' : 'wrong';
}

const idOf = ({ item_id, order_index }: ListedResult): string =>
  plainText((item_id ?? order_index) as JsonValue);
