import { SimpleGrid } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { Part } from '../../../ui/layout/part.tsx';
import { DiffedText, sharesWords } from '../../../ui/text/diffed-text.tsx';
import { RichText } from '../../../ui/text/rich-text.tsx';
import { Value } from '../../../ui/text/value.tsx';
import type { ListedResult } from '../listed-result.ts';

/** What was expected next to what came, with what differs marked where a wrong text has something of the right one. */
export function ExpectedAndGot({
  result: { answer, output, passed, type },
}: {
  readonly result: ListedResult;
}) {
  const isCode = type === 'code';
  const isDiff =
    passed === false &&
    answer?.isText === true &&
    typeof output === 'string' &&
    sharesWords(answer.text, output);
  const hasOutput = output !== null && output !== undefined;
  return (
    <SimpleGrid cols={{ base: 1, xs: answer === null || !hasOutput ? 1 : 2 }}>
      {answer !== null && (
        <Part title="Expected">
          {isDiff ? (
            <DiffedText text={answer.text} before={answer.text} after={output} side="removed" />
          ) : (
            <RichText text={answer.text} label="what is expected" isCode={isCode} />
          )}
        </Part>
      )}
      {hasOutput && (
        <Part title="Output">
          {isDiff ? (
            <DiffedText text={output} before={answer.text} after={output} side="added" />
          ) : (
            <Value value={output as JsonValue} label="the output" isCode={isCode} />
          )}
        </Part>
      )}
    </SimpleGrid>
  );
}
