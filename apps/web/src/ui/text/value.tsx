import type { JsonValue } from '@svc/jsonl-v23/json';
import { prettyJson } from './pretty-json.ts';
import { RichText } from './rich-text.tsx';

/** A text as Markdown, any other value as JSON with every digit. */
export function Value({ value, isCode = false }: { readonly value: JsonValue; readonly isCode?: boolean }) {
  if (typeof value === 'string') return <RichText text={value} isCode={isCode} />;
  return <pre className="pre">{prettyJson(value)}</pre>;
}
