import type { Provider } from '@svc/flows';
import { isJsonObject, type JsonValue } from '@svc/jsonl-v23';

/**
 * A provider that answers with the text of the last message, to try a dataset or a deployment without a
 * model.
 */
export function createEchoProvider(): Provider {
  return {
    usesMessages: true,
    async answer({ messages }) {
      return { output: textOf(messages.at(-1)?.content ?? null), usage: null };
    },
  };
}

function textOf(content: JsonValue): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.map((part) => (isJsonObject(part) ? part['text'] : undefined));
  return texts.filter((text) => typeof text === 'string').join('\n');
}
