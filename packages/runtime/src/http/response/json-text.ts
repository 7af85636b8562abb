/** JSON text, such as a stored item: it is sent as it is, with every digit. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type JsonBody =
  | JsonText
  | string
  | number
  | boolean
  | null
  | undefined
  | Date
  | readonly JsonBody[]
  | { readonly [key: string]: JsonBody };

/** The JSON text of a body: undefined members are omitted, dates become ISO 8601 in UTC. */
export function toJsonText(body: JsonBody): string {
  if (body instanceof JsonText) return body.text;
  if (body instanceof Date) return JSON.stringify(body.toISOString());
  if (Array.isArray(body)) return `[${body.map(toJsonText).join(',')}]`;
  if (typeof body === 'object' && body !== null) {
    const members = Object.entries(body)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => `${JSON.stringify(key)}:${toJsonText(value as JsonBody)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(body ?? null);
}
