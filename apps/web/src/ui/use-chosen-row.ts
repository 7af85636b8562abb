import { useEffect, useRef, useState } from 'react';
import { type Pages, usePageOf } from './use-page-of.ts';

/**
 * The chosen row of a list that is read page by page. The address names it by a key, which means the same row in any order
 * and under any filter; a row that is not read yet is chosen as soon as it is.
 */
export function useChosenRow<Row>({
  rows,
  keyOf,
  chosen,
  onChoose,
  pages,
}: {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Key that the address names. */
  readonly chosen: string | undefined;
  readonly onChoose: (key: string) => void;
  readonly pages: Pages;
}): { readonly selected: number | undefined; readonly select: (index: number) => void } {
  const [awaited, setAwaited] = useState<number>();
  // rows may have the same key
  const last = useRef<number>(undefined);
  usePageOf(awaited, rows.length, pages);
  const isChosen = (index: number | undefined): boolean => {
    const row = index === undefined ? undefined : rows[index];
    return row !== undefined && keyOf(row) === chosen;
  };
  const select = (index: number): void => {
    const row = rows[index];
    setAwaited(row === undefined ? index : undefined);
    last.current = index;
    if (row !== undefined) onChoose(keyOf(row));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that was read may have the awaited row
  useEffect(() => {
    if (awaited !== undefined && rows[awaited] !== undefined) select(awaited);
  }, [awaited, rows.length]);
  const found = (): number | undefined => {
    const index = chosen === undefined ? -1 : rows.findIndex((row) => keyOf(row) === chosen);
    return index === -1 ? undefined : index;
  };
  return { selected: awaited ?? (isChosen(last.current) ? last.current : found()), select };
}
