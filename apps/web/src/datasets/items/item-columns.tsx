import { binsOf } from '../../ui/charts/interval-bar.tsx';
import { pointerName } from '../../ui/pointer-of.ts';
import { ItemId, Tags } from '../../ui/table/cells.tsx';
import { type Column, type KeyedColumn, keyed } from '../../ui/table/table-model.ts';
import { formatCount, formatCountOf } from '../../ui/text/formats.ts';
import type { DatasetSearch } from '../dataset-search.ts';
import type { Overview } from '../overview/read-overview.ts';
import { type ItemSummary, PROMPT } from './item-windows.ts';

interface CellEdits {
  readonly typed: (item: ItemSummary, key: string) => string | undefined;
  readonly onType: (item: ItemSummary, key: string, text: string) => void;
}

export const DEFAULT_ITEM_COLUMNS: readonly string[] = ['id', PROMPT, 'answer', 'tags', 'type'];

/** What the list of items can show, with a histogram for values of metadata. Without edits, cells are texts. */
export function itemColumns(
  pointers: readonly string[],
  overview: Pick<Overview, 'values' | 'isWhole' | 'items'> | undefined,
  edits: CellEdits | undefined,
  onFilter: (changes: DatasetSearch) => void,
): readonly KeyedColumn<ItemSummary>[] {
  const value = (key: string, text: (item: ItemSummary) => React.ReactNode) => (item: ItemSummary) =>
    edits !== undefined && item.editable.includes(key) ? (
      <input
        className="cell-input"
        aria-label={`${key} of ${item.id || item.orderIndex}`}
        value={edits.typed(item, key) ?? (key === PROMPT ? item.question : (item.values[key] ?? ''))}
        onChange={({ currentTarget }) => edits.onType(item, key, currentTarget.value)}
        onClick={(event) => event.stopPropagation()}
      />
    ) : (
      text(item)
    );
  const columns: readonly Column<ItemSummary>[] = [
    {
      key: 'id',
      label: 'Id',
      size: 110,
      cell: ({ id, orderIndex }) => <ItemId id={id || String(orderIndex)} />,
    },
    {
      key: PROMPT,
      label: 'Prompt',
      size: 180,
      share: 4,
      cell: value(PROMPT, ({ question, thumbnail }) => (
        <>
          {thumbnail !== undefined && <img className="thumbnail" src={thumbnail} alt="" loading="lazy" />}
          {question}
        </>
      )),
    },
    {
      key: 'answer',
      label: 'Answer',
      size: 100,
      share: 1,
      cell: value('answer', ({ values }) => values['answer'] ?? ''),
    },
    {
      key: 'tags',
      label: 'Tags',
      size: 110,
      share: 0.5,
      isOptional: true,
      cell: ({ tags }) => <Tags tags={tags} />,
    },
    { key: 'type', label: 'Type', size: 110, isOptional: true, cell: ({ type }) => type },
    { key: 'section', label: 'Section', size: 110, cell: ({ section }) => section },
    ...pointers.map((pointer) => ({
      key: `meta.${pointer}`,
      label: pointerName(pointer),
      size: 110,
      share: 0.7,
      cell: value(`meta.${pointer}`, ({ values }) => values[`meta.${pointer}`] ?? ''),
    })),
  ];
  return columns.map((column) => {
    const { key, label } = keyed(column);
    const found = overview?.values.get(key);
    return keyed({
      ...column,
      ...(found !== undefined &&
        found.size > 1 && {
          note: (
            <ValueBars
              label={label}
              counts={found}
              total={overview?.isWhole === false ? overview.items : undefined}
              onChoose={(one) => onFilter({ [FILTERS[key] ?? key]: one })}
            />
          ),
        }),
    });
  });
}

const FILTERS: Readonly<Record<string, string>> = { answer: 'expected', tags: 'tag' };

const MAX_BARS = 20;

function ValueBars(props: {
  readonly label: string;
  readonly counts: ReadonlyMap<string, number>;
  /** How many items were counted, if not all of them. */
  readonly total: number | undefined;
  readonly onChoose: (value: string) => void;
}) {
  const { label, counts, total, onChoose } = props;
  const part = total === undefined ? '' : ` of the first ${formatCount(total)}`;
  const numbers = [...counts].map(([text, count]) => [Number(text), count] as const);
  const isNumeric = counts.size > MAX_BARS && numbers.every(([value]) => Number.isFinite(value));
  const bars = isNumeric
    ? binsOf(
        numbers.flatMap(([value, count]) => new Array<number>(count).fill(value)),
        String,
      ).map((bin) => [bin.label, bin.count] as const)
    : [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_BARS);
  const most = Math.max(...bars.map(([, count]) => count));
  return (
    <span className="value-bars">
      {bars.map(([text, count]) => {
        const title = `${label} ${text}: ${formatCountOf(count, 'item')}${part}`;
        const bar = <span key="bar" style={{ height: `${Math.max(8, (100 * count) / most)}%` }} />;
        return isNumeric ? (
          <span key={text} title={title}>
            {bar}
          </span>
        ) : (
          <button
            key={text}
            type="button"
            tabIndex={-1}
            title={title}
            aria-label={title}
            onClick={() => onChoose(text)}
          >
            {bar}
          </button>
        );
      })}
    </span>
  );
}
