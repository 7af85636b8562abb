import { useHotkeys } from '@mantine/hooks';
import { type KeyboardEvent, type RefObject, useState } from 'react';

const PAGE_ROWS = 10;

/** Rows that are chosen at once. */
const MAX_CHOSEN = 1_000;

export interface RowActions<Row> {
  readonly keyOf: (row: Row, index: number) => string;
  /** Position of the open row, where the caller shows it beside the table; null while none is open. */
  readonly open?: number | null | undefined;
  /** Opens a row, also one that is not read yet: by a click and the arrow keys where the caller shows it, else by Enter. */
  readonly onOpen?: ((index: number, row: Row | undefined) => void) | undefined;
  /** Keys of the rows that are chosen, by their checkboxes and `x`. */
  readonly chosen?: readonly string[] | undefined;
  readonly onChoose?: ((keys: readonly string[]) => void) | undefined;
}

/** The row of a grid that its keys have reached, and the rows that are chosen. */
export function useGrid<Row>(
  { keyOf, open, onOpen, chosen = [], onChoose }: RowActions<Row>,
  grid: RefObject<HTMLElement | null>,
  count: number,
  at: (index: number) => Row | undefined,
) {
  const isBeside = open !== undefined;
  const isGrid = onOpen !== undefined || onChoose !== undefined;
  const [reached, setReached] = useState<number>();
  const current = isBeside ? (open ?? undefined) : reached;
  const keyAt = (index: number): string | undefined => {
    const row = at(index);
    return row === undefined ? undefined : keyOf(row, index);
  };
  const toggle = (index: number): void => {
    const key = keyAt(index);
    if (key !== undefined)
      onChoose?.(chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key]);
  };
  const press = (key: string): boolean => {
    const next = nextOf(key, current, count);
    if (next !== undefined) {
      if (isBeside) onOpen?.(next, at(next));
      else setReached(next);
    } else if (current === undefined) return false;
    else if (key === 'Enter') onOpen?.(current, at(current));
    else if (key === 'x') toggle(current);
    else return false;
    return true;
  };
  const pressFromPage = (key: string) => (): void => {
    if (!isGrid || !press(key)) return;
    // an open entry keeps the focus: the same keys scroll it
    if (document.activeElement?.closest('section.pane, [role=dialog]') == null)
      grid.current?.focus({ preventScroll: true });
  };
  useHotkeys([
    ['j', pressFromPage('ArrowDown')],
    ['k', pressFromPage('ArrowUp')],
    ['x', pressFromPage('x')],
  ]);
  return {
    isGrid,
    isBeside,
    current,
    toggle,
    isChosen: (index: number): boolean => {
      const key = keyAt(index);
      return key !== undefined && chosen.includes(key);
    },
    /** Those that can be chosen at once: of a long list what is read of its beginning. */
    keys: (): readonly string[] =>
      Array.from({ length: Math.min(count, MAX_CHOSEN) }, (_, index) => keyAt(index) ?? []).flat(),
    onKeyDown: (event: KeyboardEvent): void => {
      // the controls in its cells handle theirs, and the page takes `x` from everywhere
      const isOwn = event.target === event.currentTarget && event.key !== 'x';
      if (isOwn && press(event.key)) event.preventDefault();
    },
  };
}

function nextOf(key: string, current: number | undefined, count: number): number | undefined {
  if (count === 0) return undefined;
  const at = current ?? -1;
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + PAGE_ROWS,
    PageUp: at - PAGE_ROWS,
    Home: 0,
    End: count - 1,
  };
  const target = targets[key];
  return target === undefined ? undefined : Math.min(count - 1, Math.max(0, target));
}
