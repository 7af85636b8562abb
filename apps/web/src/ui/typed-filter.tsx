import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useState } from 'react';

const TYPING_MS = 300;

/** A filter that takes effect shortly after its text was typed. */
export function TypedFilter({
  label,
  value,
  onChange,
  isWide = false,
}: {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (text: string | undefined) => void;
  readonly isWide?: boolean;
}) {
  const [text, setText] = useState(value ?? '');
  useEffect(() => setText(value ?? ''), [value]);
  const send = useDebouncedCallback((typed: string) => onChange(typed === '' ? undefined : typed), TYPING_MS);
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      size="xs"
      w={isWide ? 240 : 120}
      leftSection={isWide ? <IconSearch size={14} /> : undefined}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        send(event.currentTarget.value);
      }}
    />
  );
}
