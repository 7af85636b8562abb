import { diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';

/** Longer texts are shown without marking what differs: finding it takes more than linear time. */
const MAX_DIFFED = 5_000;

/** Shorter texts are read faster whole than by what differs. */
const MIN_DIFFED = 20;
const MIN_SHARED = 0.3;

/** Whether one text has enough words of another that marking what differs says something. */
export function sharesWords(before: string, after: string): boolean {
  if (before.length < MIN_DIFFED || before.length + after.length > MAX_DIFFED) return false;
  const shared = diffWordsWithSpace(before, after).reduce(
    (sum, { added, removed, value }) => (added || removed ? sum : sum + value.trim().length),
    0,
  );
  return shared >= MIN_SHARED * before.length;
}

export function DiffedText(props: {
  readonly text: string;
  readonly before: string;
  readonly after: string;
  readonly side: 'added' | 'removed';
}) {
  const { text, before, after, side } = props;
  const pieces = useMemo(
    () => (before.length + after.length <= MAX_DIFFED ? diffWordsWithSpace(before, after) : null),
    [before, after],
  );
  const other = side === 'added' ? 'removed' : 'added';
  const Tag = side === 'added' ? 'ins' : 'del';
  let offset = 0;
  return (
    <pre className="pre" dir="auto">
      {pieces
        ?.filter((piece) => !piece[other])
        .map((piece) => {
          offset += piece.value.length;
          if (!piece[side]) return piece.value;
          return (
            <Tag key={offset} className={`diff-${side}`}>
              {piece.value}
            </Tag>
          );
        }) ?? text}
    </pre>
  );
}
