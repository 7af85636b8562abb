/** A request to a model, as it was sent but for the key. */
export interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its body, byte for byte. */
  readonly body: string;
}

/** Who asks, as the configuration of a run has it. */
export interface Asked {
  readonly type?: string;
  readonly auth?: string;
  /** Name of the variable with the key. */
  readonly api_key_env?: string | null;
}

/** Shells refuse longer arguments; on Linux the limit is 128 KiB. */
const MAX_ARGUMENT = 100_000;

/** A command for a shell that sends a request again. It takes the key from the variable that the run names. */
export function curlOf({ url, headers, body }: SentRequest, { type, auth, api_key_env }: Asked): string {
  const key =
    api_key_env == null
      ? []
      : type === 'anthropic'
        ? [`"x-api-key: $${api_key_env}"`]
        : auth === 'api-key'
          ? [`"api-key: $${api_key_env}"`]
          : [`"Authorization: Bearer $${api_key_env}"`];
  const stated = Object.entries(headers).map(([name, value]) => quoted(`${name}: ${value}`));
  const lines = [`curl ${quoted(url)}`, ...[...stated, ...key].map((header) => `  -H ${header}`)];
  return body.length <= MAX_ARGUMENT
    ? [...lines, `  --data-raw ${quoted(body)}`].join(' \\\n')
    : `${[...lines, "  --data-binary @- <<'END'"].join(' \\\n')}\n${body}\nEND`;
}

/** A text as one argument of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const BODY = ',"body":';

/**
 * Reads what the service says of a request, with its body as text: parsed and written again, it would be other bytes.
 *
 * @throws SyntaxError for something else
 */
export function readSentRequest(text: string): SentRequest {
  // quotes inside texts are escaped, so that this is the member
  const at = text.indexOf(BODY);
  if (at === -1) throw new SyntaxError('The request has no body.');
  const { url, headers } = JSON.parse(`${text.slice(0, at)}}`) as SentRequest;
  return { url, headers, body: text.slice(at + BODY.length).replace(/\}\s*$/, '') };
}
