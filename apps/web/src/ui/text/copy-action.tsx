import { ActionIcon, Box, Code, Group, Tooltip } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { useState } from 'react';
import { Icon } from '../icons.tsx';
import { prettyJson } from './formats.ts';

const SHOWN_MS = 1_000;

const FOLLOWING = { variant: 'subtle', color: 'gray', size: 'sm' } as const;
const IN_CORNER = { variant: 'default', pos: 'absolute', top: 4, right: 4 } as const;

/** A button that copies a text, also where a page that came over plain HTTP has no clipboard. */
export function CopyAction(props: {
  readonly text: string | (() => Promise<string>);
  readonly label: string;
  /** Whether it lies on the upper end of what it copies; else it follows that. */
  readonly isInCorner?: boolean;
}) {
  const { text, label, isInCorner = false } = props;
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(typeof text === 'string' ? text : await text());
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <Tooltip label={isCopied ? 'Copied' : label}>
      <ActionIcon {...(isInCorner ? IN_CORNER : FOLLOWING)} onClick={() => void copy()} aria-label={label}>
        {isCopied ? <Icon name="check" size={14} /> : <Icon name="copy" size={14} />}
      </ActionIcon>
    </Tooltip>
  );
}

async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return await navigator.clipboard.writeText(text);
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  // a dialog lets nothing outside it be selected
  (document.querySelector('[role=dialog]') ?? document.body).append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
}

/** A hash, an id or a command that can be copied whole, though only its beginning may be shown. */
export function CopyText(props: {
  readonly text: string;
  readonly label: string;
  /** Characters that are shown; by default all of them. */
  readonly length?: number;
}) {
  const { text, label, length } = props;
  return (
    <Group gap={4} wrap="nowrap" display="inline-flex" maw="100%">
      <Code title={text} className="ellipsis">
        {text.slice(0, length)}
      </Code>
      <CopyAction text={text} label={`Copy ${label}`} />
    </Group>
  );
}

/** Characters of a JSON text that are laid out; a copy has all of them. */
const MAX_SHOWN = 200_000;

/** A value as exact JSON, which can be copied. */
export function JsonText({ value, label }: { readonly value: JsonValue; readonly label: string }) {
  const text = prettyJson(value);
  return (
    <Box pos="relative">
      <CopyAction text={text} label={`Copy ${label}`} isInCorner />
      <pre className="pre">{text.slice(0, MAX_SHOWN)}</pre>
      {text.length > MAX_SHOWN && (
        <em>
          The first {MAX_SHOWN} characters of {text.length}.
        </em>
      )}
    </Box>
  );
}
