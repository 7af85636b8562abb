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
  switch (typeof body) {
    case 'object':
      return body === null ? 'null' : objectText(body);
    case 'number':
      return Number.isFinite(body) ? String(body) : 'null';
    case 'boolean':
      return body ? 'true' : 'false';
    default:
      return body === undefined ? 'null' : JSON.stringify(body);
  }
}

function objectText(body: NonNullable<JsonBody & object>): string {
  if (body instanceof JsonText) return body.text;
  if (body instanceof Date) return `"${body.toISOString()}"`;
  let text = '';
  if (Array.isArray(body)) {
    for (const entry of body) text += text === '' ? toJsonText(entry) : `,${toJsonText(entry)}`;
    return `[${text}]`;
  }
  const members = body as { readonly [key: string]: JsonBody };
  for (const key of Object.keys(members)) {
    const value = members[key];
    if (value !== undefined) text += `${text === '' ? '' : ','}${nameText(key)}${toJsonText(value)}`;
  }
  return `{${text}}`;
}

/** The name of a member and its colon. Nearly all names need no escapes, for which to look takes less than to escape. */
function nameText(name: string): string {
  return /^[a-z_]+$/.test(name) ? `"${name}":` : `${JSON.stringify(name)}:`;
}
