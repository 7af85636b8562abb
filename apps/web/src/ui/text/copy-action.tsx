import { ActionIcon, type ActionIconProps, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useState } from 'react';

const SHOWN_MS = 1_000;

/** A button that copies a text, also where a page that came over plain HTTP has no clipboard. */
export function CopyAction({
  text,
  label,
  ...rest
}: {
  /** What is copied, or what makes it. */
  readonly text: string | (() => Promise<string>);
  readonly label: string;
} & Pick<ActionIconProps, 'variant' | 'color' | 'size' | 'pos' | 'top' | 'right'>) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(typeof text === 'string' ? text : await text());
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <Tooltip label={isCopied ? 'Copied' : label}>
      <ActionIcon {...rest} onClick={() => void copy()} aria-label={label}>
        {isCopied ? <IconCheck size={14} /> : <IconCopy size={14} />}
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
