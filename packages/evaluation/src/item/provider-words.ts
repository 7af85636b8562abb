import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';

/** Characters that are read of a message; what is shown is much shorter. */
const MAX_CHARS = 20_000;
/** Problems that are read of a list of them. */
const MAX_PROBLEMS = 10;

/**
 * What a provider says about an error, in the forms that providers use: `error.message`, `error_description`, `message`,
 * `detail`, `detail[].msg` (FastAPI), `error` as text (Ollama, TGI), and an array of one error (Gemini).
 *
 * @param body parsed JSON of a response
 * @returns the text as it was sent, not yet fit to be shown; null without one
 */
export function providerWords(body: JsonValue): string | null {
  const [only] = Array.isArray(body) ? body : [body];
  if (!isJsonObject(only)) return null;
  const error = getMember(only, 'error');
  const detail = getMember(only, 'detail');
  const texts = [
    isJsonObject(error) ? getMember(error, 'message') : undefined,
    getMember(only, 'error_description'),
    getMember(only, 'message'),
    detail,
    Array.isArray(detail) ? problemsOf(detail) : undefined,
    error,
  ];
  const found = texts.find((text): text is string => typeof text === 'string' && text.trim() !== '');
  return found === undefined ? null : cutAtSpace(found);
}

function problemsOf(detail: readonly JsonValue[]): string {
  const problems = detail.slice(0, MAX_PROBLEMS).filter(isJsonObject).map(problemOf);
  return problems.filter((text) => text !== '').join('; ');
}

/** `loc` is the path of the member that has the problem. */
function problemOf(problem: JsonObject): string {
  const message = getMember(problem, 'msg');
  if (typeof message !== 'string') return '';
  const loc = getMember(problem, 'loc');
  const path = Array.isArray(loc)
    ? loc.filter((step) => typeof step === 'string' || typeof step === 'number')
    : [];
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

/** A cut inside a word could leave a part of a secret that nothing recognises. */
function cutAtSpace(text: string): string {
  if (text.length <= MAX_CHARS) return text;
  const end = Math.max(text.lastIndexOf(' ', MAX_CHARS), text.lastIndexOf('\n', MAX_CHARS));
  return text.slice(0, Math.max(0, end));
}
