import { Box, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { createContext, lazy, Suspense, useContext, useEffect } from 'react';
import { loadedAgain } from '../../api/service-responds.ts';
import { canRender, hasMarks, isCodeLike } from './can-render.ts';
import { Dimmed } from './dimmed.ts';
import { prettyJson } from './pretty-json.ts';

const Markdown = lazy(loadedAgain(() => import('./markdown.tsx')));
const CodeText = lazy(loadedAgain(() => import('./code-text.tsx')));

/** Counts the texts of a page that `TextSwitch` changes. */
export const SwitchedTexts = createContext<(change: 1 | -1) => void>(() => {});

/** How texts are shown, which one switch changes. */
export const useTextView = () =>
  useLocalStorage({ key: 'svc.text-view', defaultValue: 'rendered', getInitialValueInEffect: false });

/** A text character by character, or rendered where it surely is Markdown or code, unless the page shows all texts raw. */
export function RichText({
  text,
  isCode = false,
}: {
  readonly text: string;
  /** Whether the text is known to be code. */
  readonly isCode?: boolean;
}) {
  const [view] = useTextView();
  const isBlock = isCodeLike(text, isCode);
  const isMarked = !isBlock && hasMarks(text);
  const isSwitched = isBlock || (isMarked && canRender(text));
  const count = useContext(SwitchedTexts);
  useEffect(() => {
    if (!isSwitched) return;
    count(1);
    return () => count(-1);
  }, [isSwitched, count]);
  if (isSwitched && view !== 'raw')
    return (
      <Suspense fallback={<Plain text={text} />}>
        {isBlock ? <CodeText text={text} /> : <Markdown text={text} />}
      </Suspense>
    );
  return (
    <Box>
      {isMarked && !isSwitched && <Dimmed size="xs">Shown raw: the text is too long to be rendered.</Dimmed>}
      <Plain text={text} />
    </Box>
  );
}

function Plain({ text }: { readonly text: string }) {
  return (
    <Text size="sm" dir="auto" className="break lines">
      {text}
    </Text>
  );
}

/** A text as Markdown, any other value as JSON with every digit. */
export function Value({ value, isCode = false }: { readonly value: JsonValue; readonly isCode?: boolean }) {
  if (typeof value === 'string') return <RichText text={value} isCode={isCode} />;
  return <pre className="pre">{prettyJson(value)}</pre>;
}
