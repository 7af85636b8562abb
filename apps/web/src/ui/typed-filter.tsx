import { Autocomplete, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';

const TYPING_MS = 300;

/** A filter that takes effect shortly after its text was typed. */
export function TypedFilter({
  label,
  value,
  onChange,
  isWide = false,
  suggestions,
  onFocus,
}: {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (text: string | undefined) => void;
  readonly isWide?: boolean;
  /** Values that exist. */
  readonly suggestions?: readonly string[];
  readonly onFocus?: () => void;
}) {
  const [text, setText] = useState(value ?? '');
  const sent = useRef(value);
  const send = useDebouncedCallback((typed: string) => {
    sent.current = typed === '' ? undefined : typed;
    onChange(sent.current);
  }, TYPING_MS);
  useEffect(() => {
    // what was typed since stays, unless something else than this field has changed the filter
    if (value === sent.current) return;
    sent.current = value;
    send.cancel();
    setText(value ?? '');
  }, [value, send]);
  const field = {
    'aria-label': label,
    placeholder: label,
    size: 'xs',
    w: isWide ? 240 : 150,
    value: text,
    onFocus,
  } as const;
  const type = (typed: string): void => {
    setText(typed);
    send(typed);
  };
  return suggestions === undefined ? (
    <TextInput
      {...field}
      leftSection={isWide ? <IconSearch size={14} /> : undefined}
      onChange={(event) => type(event.currentTarget.value)}
    />
  ) : (
    <Autocomplete {...field} data={suggestions} limit={50} onChange={type} />
  );
}
