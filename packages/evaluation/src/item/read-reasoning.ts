import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';

/**
 * What a model thought, if a server sends it with the answer: as `reasoning_content` (DeepSeek, llama.cpp, vLLM),
 * `reasoning` (OpenRouter, Ollama, vLLM), `reasoning_details` (OpenRouter), or in parts of its content (Mistral).
 *
 * @param message of a chat completion
 */
export function reasoningOf(message: JsonObject): string | null {
  for (const name of ['reasoning_content', 'reasoning']) {
    const text = getMember(message, name);
    if (typeof text === 'string' && text !== '') return text;
  }
  return thoughtsIn(getMember(message, 'reasoning_details')) ?? thoughtsIn(getMember(message, 'content'));
}

/** Whether a part of a message is no answer. */
export function isThought(part: JsonValue): part is JsonObject {
  const type = isJsonObject(part) ? getMember(part, 'type') : undefined;
  return typeof type === 'string' && /^(?:thinking$|reasoning)/.test(type);
}

/** The texts of the thoughts among parts; null without any. Thoughts that a provider encrypts or hides do not count. */
export function thoughtsIn(parts: JsonValue | undefined): string | null {
  if (!Array.isArray(parts)) return null;
  const texts = parts.filter(isThought).map((part) => {
    const names = ['thinking', 'text', 'summary'].map((name) => getMember(part, name));
    return textOf(names.find((value) => value != null && value !== ''));
  });
  return texts.filter((text) => text !== '').join('\n\n') || null;
}

/** A text, or the texts of parts. */
function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  const texts = value.map((part) => (isJsonObject(part) ? getMember(part, 'text') : undefined));
  return texts.filter((text) => typeof text === 'string').join('');
}
