import { Icon } from '../../ui/icons.tsx';
import type { ListedResult } from './listed-result.ts';

/** The outcome of a result as one scorer sees it; as the main one does without a name. */
export function outcomeOf(
  { status, passed, scores }: Pick<ListedResult, 'status' | 'passed' | 'scores'>,
  scorer: string | undefined,
): Pick<ListedResult, 'status' | 'passed'> {
  if (scorer === undefined) return { status, passed };
  const scored = scores?.[scorer]?.passed ?? null;
  return { status: status === 'failed' || scored !== null ? status : 'unscored', passed: scored };
}

/** How a result ended, in words. */
export function outcomeText({ status, passed }: Pick<ListedResult, 'status' | 'passed'>): string {
  if (passed !== null) return passed ? 'right' : 'wrong';
  return status === 'failed' ? 'no answer' : 'not scored';
}

const MARKS = { none: ['minus', 'orange'], right: ['check', 'teal'], wrong: ['x', 'red'] } as const;

/** How a result ended, as a mark with a colour. */
export function Mark({ result }: { readonly result: Pick<ListedResult, 'status' | 'passed'> }) {
  const { passed } = result;
  const [name, color] = passed === null ? MARKS.none : passed ? MARKS.right : MARKS.wrong;
  return (
    <Icon
      name={name}
      role="img"
      size={16}
      color={`var(--mantine-color-${color}-6)`}
      aria-label={outcomeText(result)}
    />
  );
}
