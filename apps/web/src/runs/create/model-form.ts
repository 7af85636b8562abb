import { readObject, readPairs } from './model-texts.ts';

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

/** A model as the API takes it; null while something that it needs is absent, or a text of it is invalid. */
export function modelOf(type: ModelType, form: ModelForm): object | null {
  const { baseUrl, model, apiKeyEnv, temperature, maxTokens, auth } = form;
  const more = readObject(form.params).value;
  const query = type === 'anthropic' ? {} : readPairs(form.query, '=').value;
  const headers = readPairs(form.headers, ':').value;
  if (baseUrl === '' || model === '' || more === null || query === null || headers === null) return null;
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
      query: nonEmpty(query),
      extra_headers: nonEmpty(headers),
    }),
  };
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
