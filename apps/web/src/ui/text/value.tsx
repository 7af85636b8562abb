import type { JsonValue } from '@svc/jsonl-v23/json';
import { prettyJson } from './pretty-json.ts';
import { RichText } from './rich-text.tsx';

/** A text as Markdown, any other value as JSON with every digit. */
export function Value({ value, label }: { readonly value: JsonValue; readonly label: string }) {
  if (typeof value === 'string') return <RichText text={value} label={label} />;
  return <pre className="pre">{prettyJson(value)}</pre>;
}
