import { SimpleGrid } from '@mantine/core';
import { Part } from '../../../ui/layout/part.tsx';
import { DiffedText, sharesWords } from '../../../ui/text/diffed-text.tsx';
import { RichText } from '../../../ui/text/rich-text.tsx';
import { Value } from '../../../ui/text/value.tsx';
import { gotOf, type ListedResult, readOf } from '../listed-result.ts';

/** What was expected next to what came, with what differs marked where a wrong text has something of the right one. */
export function ExpectedAndGot({ result }: { readonly result: ListedResult }) {
  const { answer, passed, type } = result;
  const isCode = type === 'code';
  const got = gotOf(result) ?? null;
  const isDiff =
    passed === false && answer?.isText === true && typeof got === 'string' && sharesWords(answer.text, got);
  return (
    <SimpleGrid cols={{ base: 1, xs: answer === null || got === null ? 1 : 2 }}>
      {answer !== null && (
        <Part title="Expected">
          {isDiff ? (
            <DiffedText text={answer.text} before={answer.text} after={got} side="removed" />
          ) : (
            <RichText text={answer.text} isCode={isCode} />
          )}
        </Part>
      )}
      {got !== null && (
        <Part title={readOf(result) === undefined ? 'Output' : 'Got'}>
          {isDiff ? (
            <DiffedText text={got} before={answer.text} after={got} side="added" />
          ) : (
            <Value value={got} isCode={isCode} />
          )}
        </Part>
      )}
    </SimpleGrid>
  );
}
