import { Box } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { CopyAction } from './copy-action.tsx';
import { prettyJson } from './pretty-json.ts';

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
