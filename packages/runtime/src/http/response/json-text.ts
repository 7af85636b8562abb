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
  if (typeof body !== 'object' || body === null) return JSON.stringify(body ?? null);
  if (body instanceof JsonText) return body.text;
  if (body instanceof Date) return `"${body.toISOString()}"`;
  let text = '';
  if (Array.isArray(body)) {
    for (const entry of body) text += `${text === '' ? '' : ','}${toJsonText(entry)}`;
    return `[${text}]`;
  }
  for (const [key, value] of Object.entries(body)) {
    if (value !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${toJsonText(value)}`;
  }
  return `{${text}}`;
}
