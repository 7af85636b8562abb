import { TextInput } from '@mantine/core';
import { useState } from 'react';

/** A slice, such as `train[:100]`, which takes effect when it is complete. */
export function SplitInput({
  split,
  onChange,
}: {
  readonly split: string;
  readonly onChange: (split: string) => void;
}) {
  const [text, setText] = useState(split);
  const send = (): void => {
    if (text !== split && text !== '') onChange(text);
  };
  return (
    <TextInput
      label="Slice"
      size="xs"
      w={180}
      value={text}
      placeholder="train[:100]"
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={send}
      onKeyDown={(event) => event.key === 'Enter' && send()}
    />
  );
}
