/** A model that is asked. Numbers are texts while they are typed. */
export interface ModelForm {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKeyEnv: string;
  readonly temperature: string | number;
  readonly maxTokens: string | number;
  /** Further members of the request body, as JSON text. */
  readonly params: string;
  readonly auth: 'bearer' | 'api-key';
  /** A line each, `name=value`. */
  readonly query: string;
  /** A line each, `name: value`. */
  readonly headers: string;
}

export const EMPTY_MODEL: ModelForm = {
  baseUrl: '',
  model: '',
  apiKeyEnv: '',
  temperature: '',
  maxTokens: '',
  params: '',
  auth: 'bearer',
  query: '',
  headers: '',
};

export type ModelType = 'openai_compatible' | 'anthropic';

/** A model as the API takes it; null while something that it needs is absent or no JSON. */
export function modelOf(type: ModelType, form: ModelForm): object | null {
  const { baseUrl, model, apiKeyEnv, temperature, maxTokens, auth } = form;
  const more = paramsOf(form.params);
  if (baseUrl === '' || model === '' || more === null) return null;
  const params = {
    ...stated({ temperature: numberOf(temperature), max_tokens: numberOf(maxTokens) }),
    ...more,
  };
  return {
    type,
    base_url: baseUrl,
    model,
    ...stated({
      params: nonEmpty(params),
      api_key_env: apiKeyEnv || undefined,
      auth: auth === 'bearer' || type === 'anthropic' ? undefined : auth,
      query: type === 'anthropic' ? undefined : nonEmpty(pairsOf(form.query, '=')),
      extra_headers: nonEmpty(pairsOf(form.headers, ':')),
    }),
  };
}

/** An object of JSON text; null where the text is none. */
export function paramsOf(text: string): object | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** A number that was typed; undefined where there is none. */
export function numberOf(value: string | number): number | undefined {
  return value === '' || !Number.isFinite(Number(value)) ? undefined : Number(value);
}

/** The members that are not undefined. */
export function stated(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** An object with members; undefined without any. */
export function nonEmpty(members: object): object | undefined {
  return Object.keys(members).length === 0 ? undefined : members;
}

function pairsOf(text: string, mark: string): Readonly<Record<string, string>> {
  const pairs = text.split('\n').flatMap((line) => {
    const at = line.indexOf(mark);
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const];
  });
  return Object.fromEntries(pairs);
}
