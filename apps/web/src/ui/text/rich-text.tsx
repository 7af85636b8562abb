import { Box, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { createContext, useContext, useEffect } from 'react';
import { onDemand } from '../query-state.tsx';
import { Dimmed } from './dimmed.ts';
import { prettyJson } from './formats.ts';

const Markdown = onDemand(() => import('./markdown.tsx'), Plain);
const CodeText = onDemand(() => import('./code-text.tsx'), Plain);

/** Counts the texts of a page that `TextSwitch` changes. */
export const SwitchedTexts = createContext<(change: 1 | -1) => void>(() => {});

/** How texts are shown, which one switch changes. */
export const useTextView = () =>
  useLocalStorage({ key: 'svc.text-view', defaultValue: 'rendered', getInitialValueInEffect: false });

/** A text character by character, or rendered where it surely is Markdown or code, unless the page shows all texts raw. */
export function RichText({ text, isCode = false }: { readonly text: string; readonly isCode?: boolean }) {
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
  if (isSwitched && view !== 'raw') return isBlock ? <CodeText text={text} /> : <Markdown text={text} />;
  return (
    <Box>
      {isMarked && !isSwitched && <Dimmed size="xs">Shown raw: the text is too long to be rendered.</Dimmed>}
      <Plain text={text} />
    </Box>
  );
}

export function Plain({ text }: { readonly text: string }) {
  return (
    <Text size="sm" dir="auto" className="break lines">
      {text}
    </Text>
  );
}

export function Value({ value, isCode = false }: { readonly value: JsonValue; readonly isCode?: boolean }) {
  if (typeof value === 'string') return <RichText text={value} isCode={isCode} />;
  return <pre className="pre">{prettyJson(value)}</pre>;
}

/** Longer texts take too long to parse. */
const MAX_CHARACTERS = 20_000;

/** Lines that each begin a heading or a list take the longest for their length. */
const MAX_LINES = 2_000;

/** Marks of emphasis that are searched for their partners, which takes time that grows with their square. */
const MAX_EMPHASIS_MARKS = 3_000;

/** Lists inside each other: the parser calls itself for each. */
const MAX_DEPTH = 50;

/** Marks of lists at the start of a line. */
const CONTAINER = /[ \t]*(?:[-+*]|\d{1,9}[.)])(?=\s|$)/y;

/** What may be a fence, a heading, an entry of a list, a table, emphasis, a link or a formula: only a parser can tell. */
const MARKS =
  /^[ \t]*(?:```|~~~|#{1,6}[ \t]|(?:[-+*]|\d{1,9}[.)])[ \t])|\|[ \t]*:?-|-:?[ \t]*\||\*\*\S|\]\(|\$|\\[([]/m;

export const hasMarks = (text: string): boolean => MARKS.test(text);

/** Whether a text is short enough to be parsed without blocking the page. */
export function canRender(text: string): boolean {
  if (text.length > MAX_CHARACTERS) return false;
  const lines = text.split(/\r\n|\r|\n/);
  return (
    lines.length <= MAX_LINES &&
    (text.match(/[*_~]/g)?.length ?? 0) <= MAX_EMPHASIS_MARKS &&
    lines.every((line) => containersOf(line) <= MAX_DEPTH)
  );
}

function containersOf(line: string): number {
  CONTAINER.lastIndex = 0;
  let depth = 0;
  while (depth <= MAX_DEPTH && CONTAINER.test(line)) depth += 1;
  return depth;
}

/** Lines that are looked at: a text is judged by its beginning. */
const MAX_CODE_LINES = 200;

const INDENTED = /^(?: {2,}|\t)\S/;
const MARKDOWN = /^\s*(?:[-*+>#]|\d+[.)]|```|~~~|\||\$\$)/;
const OPENS = /[:{([,=\\]\s*$/;
const ENDS = /[;{}]\s*$/;

/**
 * Whether a text without fences has the lines of a program: indented below lines that open a block, or ended by marks. With
 * fences it is Markdown, which says something around its code.
 */
export function isCodeLike(text: string, isCode: boolean = false): boolean {
  const lines = text
    .slice(0, 20_000)
    .split(/\r\n|\r|\n/, MAX_CODE_LINES)
    .filter((line) => line.trim() !== '');
  if (lines.some((line) => /^\s*(?:```|~~~)/.test(line))) return false;
  if (isCode || lines.length < 2) return isCode;
  const opened = lines.filter(
    (line, at) => INDENTED.test(line) && !MARKDOWN.test(line) && OPENS.test(lines[at - 1] ?? ''),
  ).length;
  const ended = lines.filter((line) => ENDS.test(line) && !MARKDOWN.test(line)).length;
  const prose = lines.filter((line) => /^[A-Z][^(){}=;]*[.!?:]$/.test(line)).length;
  return (opened > 0 || ended >= lines.length / 2) && prose < lines.length / 3;
}
