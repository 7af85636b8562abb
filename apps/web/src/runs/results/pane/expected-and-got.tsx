import { SimpleGrid } from '@mantine/core';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { Part } from '../../../ui/layout/part.tsx';
import { DiffedText, sharesWords } from '../../../ui/text/diffed-text.tsx';
import { Value } from '../../../ui/text/rich-text.tsx';
import { gotOf, type ListedResult, readOf } from '../listed-result.ts';

/** What was expected next to what came, with what differs marked where a wrong text has something of the right one. */
export function ExpectedAndGot({
  result,
  item,
}: {
  readonly result: ListedResult;
  /** The whole item; null if it is absent: the expected answer is then the beginning in the list. */
  readonly item: JsonObject | null;
}) {
  const expected = item === null ? result.expected || null : (getMember(item, 'answer') ?? null);
  const isCode = result.type === 'code';
  const got = gotOf(result) ?? null;
  const compared =
    item !== null && result.passed === false && typeof expected === 'string' && typeof got === 'string'
      ? { before: expected, after: got }
      : null;
  const isDiff = compared !== null && sharesWords(compared.before, compared.after);
  return (
    <SimpleGrid cols={{ base: 1, xs: expected === null || got === null ? 1 : 2 }}>
      {expected !== null && (
        <Part title="Expected">
          {isDiff ? (
            <DiffedText text={compared.before} {...compared} side="removed" />
          ) : (
            <Value value={expected} isCode={isCode} />
          )}
        </Part>
      )}
      {got !== null && (
        <Part title={readOf(result) === undefined ? 'Output' : 'Got'}>
          {isDiff ? (
            <DiffedText text={compared.after} {...compared} side="added" />
          ) : (
            <Value value={got} isCode={isCode} />
          )}
        </Part>
      )}
    </SimpleGrid>
  );
}
