import { openConnection } from '../../../../api/test/raw-connection.ts';
import { samplePackage } from '../sample-packages.ts';
import { ask, outcomeOf } from '../stored-datasets.ts';
import { count, LIMITS, type LimitCase, type Target } from './limit-case.ts';
import { nested } from './package-limits.ts';

const UUID = '00000000-0000-4000-8000-000000000000';

const patch =
  (body: string, inPieces = false) =>
  async ({ service }: Target): Promise<string> => {
    const init = {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: inPieces ? ReadableStream.from([Buffer.from(body)]) : body,
      duplex: 'half',
    };
    return outcomeOf(await ask(`${service.url}/datasets/${UUID}`, init as RequestInit));
  };

/** An upload with these fields besides its file; the outcome of a refused form includes its message. */
const uploadFields =
  (...fields: readonly (readonly [name: string, value: string])[]) =>
  async ({ service }: Target): Promise<string> => {
    const form = new FormData();
    for (const [name, value] of fields) form.append(name, value);
    form.append('file', new Blob([samplePackage(1)]), 'a.zip');
    const answer = await ask(`${service.url}/datasets/upload`, { method: 'POST', body: form });
    const [error] = answer.body?.errors ?? [];
    return error === undefined ? outcomeOf(answer) : `${outcomeOf(answer)}: ${error.message}`;
  };

const jsonHead = (length: number): string =>
  `PATCH /datasets/${UUID} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
const PROBE = 'GET /healthz HTTP/1.1\r\nHost: x\r\n';

/** The outcome of a raw response. */
function outcomeIn(answer: string): string {
  const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
  return Number(status) < 400 ? `${status}` : `${status} ${/"code":"(\w+)"/.exec(answer)?.[1]}`;
}
const WHOLE = /\r\n\r\n[\s\S]*\}\n?$/;

/** Sends a start and, after a pause that is well within every limit, the rest; or nothing more. */
const paused =
  (start: string, rest?: string) =>
  async ({ service }: Target): Promise<string> => {
    using connection = await openConnection(service.url);
    connection.send(start);
    const timer = rest === undefined ? undefined : setTimeout(() => connection.send(rest), 10);
    return outcomeIn(await connection.until(WHOLE).finally(() => clearTimeout(timer)));
  };

/** Sends the body of a JSON request byte by byte. */
const trickled =
  (pauseMs: number) =>
  async ({ service }: Target): Promise<string> => {
    using connection = await openConnection(service.url);
    const bytes = [...'{"name":"x"}'];
    connection.send(jsonHead(bytes.length));
    const timer = setInterval(() => connection.send(bytes.shift() ?? ''), pauseMs);
    return outcomeIn(await connection.until(WHOLE).finally(() => clearInterval(timer)));
  };

const BODY_BYTES = LIMITS.SVC_MAX_JSON_BODY_BYTES;
const bodyOf = (bytes: number): string => '{"name":"x"}'.padEnd(bytes, ' ');
const DEPTH = LIMITS.SVC_MAX_JSON_DEPTH;
const FIELD_BYTES = LIMITS.SVC_MAX_FORM_FIELD_BYTES;

/** Every limit of a request's head, body and form. */
export const REQUEST_LIMITS: readonly LimitCase[] = [
  {
    limit: 'nesting in bodies: `SVC_MAX_JSON_DEPTH`',
    within: { what: count(DEPTH, 'levels'), outcome: '400 invalid_request', send: patch(nested(DEPTH)) },
    beyond: {
      what: count(DEPTH + 1, 'levels'),
      outcome: '400 invalid_json',
      send: patch(nested(DEPTH + 1)),
    },
  },
  ...[false, true].map((inPieces) => ({
    limit: `JSON body, ${inPieces ? 'in pieces of unknown number' : 'its length declared'}: \`SVC_MAX_JSON_BODY_BYTES\``,
    within: {
      what: count(BODY_BYTES, 'bytes'),
      outcome: '404 dataset_not_found',
      send: patch(bodyOf(BODY_BYTES), inPieces),
    },
    beyond: {
      what: count(BODY_BYTES + 1, 'bytes'),
      outcome: '413 body_too_large',
      send: patch(bodyOf(BODY_BYTES + 1), inPieces),
    },
  })),
  {
    limit: 'fields of a form besides its file: `SVC_MAX_FORM_FIELDS`',
    within: {
      what: '2 fields',
      outcome: '201',
      send: uploadFields(['name', 'x'], ['description', 'y']),
    },
    beyond: {
      what: '3 fields',
      outcome: '400 invalid_request: The form must have at most 2 fields.',
      send: uploadFields(['name', 'x'], ['description', 'y'], ['name', 'z']),
    },
  },
  {
    limit: 'size of a field: `SVC_MAX_FORM_FIELD_BYTES`',
    within: {
      what: count(FIELD_BYTES, 'bytes'),
      outcome: '201',
      send: uploadFields(['description', 'é'.repeat(FIELD_BYTES / 2)]),
    },
    beyond: {
      what: count(FIELD_BYTES + 1, 'bytes'),
      outcome: `400 invalid_request: The field "description" must have at most ${FIELD_BYTES} bytes.`,
      send: uploadFields(['description', `${'é'.repeat(FIELD_BYTES / 2)}x`]),
    },
  },
  {
    limit: 'time for headers: `SVC_HEADERS_TIMEOUT_MS`',
    within: { what: 'well within the time', outcome: '200', send: paused(PROBE, '\r\n') },
    beyond: { what: 'never whole', outcome: '408 request_timeout', send: paused(PROBE) },
  },
  {
    limit: 'time without a byte of the body: `SVC_IDLE_BODY_TIMEOUT_MS`',
    within: {
      what: 'well within the time',
      outcome: '404 dataset_not_found',
      send: paused(`${jsonHead(12)}{`, '"name":"x"}'),
    },
    beyond: { what: 'never whole', outcome: '408 request_timeout', send: paused(`${jsonHead(12)}{`) },
  },
  {
    limit: 'time for a whole JSON request: `SVC_JSON_REQUEST_TIMEOUT_MS`',
    within: { what: 'well within the time', outcome: '404 dataset_not_found', send: trickled(1) },
    beyond: {
      what: 'byte by byte, more than twice the time',
      outcome: '408 request_timeout',
      send: trickled(500),
    },
  },
];
