import { useEffect, useState } from 'react';

/**
 * The chosen row of a list that is read in part. The address names it by a key, which means the same row in any order and
 * under any filter; a row that is not read yet is chosen as soon as it is.
 */
export function useChosenRow({
  keyAt,
  indexOf,
  chosen,
  onChoose,
}: {
  /** Key of a row; undefined until it is read. */
  readonly keyAt: (index: number) => string | undefined;
  /** The row with a key, if it is read. */
  readonly indexOf: (key: string) => number | undefined;
  /** Key that the address names. */
  readonly chosen: string | undefined;
  readonly onChoose: (key: string) => void;
}): {
  readonly selected: number | undefined;
  readonly select: (index: number) => void;
} {
  const [awaited, setAwaited] = useState<number>();
  // rows may have the same key, and the chosen one may be dropped
  const [last, setLast] = useState<{ readonly index: number; readonly key: string }>();
  const select = (index: number): void => {
    const key = keyAt(index);
    setAwaited(key === undefined ? index : undefined);
    if (key === undefined) return;
    setLast({ index, key });
    onChoose(key);
  };
  const isRead = awaited !== undefined && keyAt(awaited) !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the row has been read
  useEffect(() => {
    if (isRead && awaited !== undefined) select(awaited);
  }, [isRead, awaited]);
  const found = (): number | undefined => {
    if (chosen === undefined) return undefined;
    const { index, key } = last ?? {};
    const isLast = index !== undefined && key === chosen && (keyAt(index) ?? key) === key;
    return isLast ? index : indexOf(chosen);
  };
  return { selected: awaited ?? found(), select };
}
