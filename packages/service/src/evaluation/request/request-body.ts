import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { LinkedFile } from '@svc/jsonl-v23/assets';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { type MarkedFiles, splitAtMarks } from '../assets/marked-files.ts';
import type { ModelConfig } from '../config/run-config.ts';
import type { ProviderRequest, WireFormat } from '../provider.ts';

/** The limit that the Messages API requires, if `params` has none. */
const DEFAULT_ANTHROPIC_TOKENS = 4096;

/** The body of a request, which each attempt sends again: in memory, or read while it is sent. */
export interface RequestBody {
  readonly byteLength: number;
  open(signal: AbortSignal): Buffer | Readable;
}

/** The body of a request to a model. Memory holds a piece of its files. */
export function requestBody(
  model: Pick<ModelConfig, 'model' | 'params'>,
  request: ProviderRequest,
  format: WireFormat,
): RequestBody {
  const body = bodyOf(model, request, format);
  const { files } = request;
  if (files !== undefined && body.includes(files.mark)) return withFiles(String(body), files);
  return { byteLength: body.byteLength, open: () => body };
}

/** The beginning of a data URL, before the base64 text of a file. */
const DATA_URL = /data:[^",]{0,256};base64,$/;

/**
 * The body of a request as text, with links in place of the content of files, and of the data URLs that have it.
 *
 * @param link of a file, without quotes and control characters
 */
export function requestText(
  model: Pick<ModelConfig, 'model' | 'params'> | null,
  request: ProviderRequest,
  format: WireFormat,
  link: (file: LinkedFile) => string,
): string {
  const body = String(bodyOf(model, request, format));
  if (request.files === undefined) return body;
  const pieces = splitAtMarks(body, request.files);
  return pieces
    .map((piece, index) => {
      if (typeof piece !== 'string') return link(piece);
      const isBeforeFile = index + 1 < pieces.length;
      return isBeforeFile ? piece.slice(0, -300) + piece.slice(-300).replace(DATA_URL, '') : piece;
    })
    .join('');
}

function withFiles(text: string, files: MarkedFiles): RequestBody {
  const pieces = splitAtMarks(text, files).map((piece) =>
    typeof piece === 'string' ? Buffer.from(piece) : piece,
  );
  return {
    byteLength: pieces.reduce(
      (sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.byteLength : 4 * Math.ceil(piece.byteLength / 3)),
      0,
    ),
    open: (signal) => Readable.from(chunksOf(pieces, files, signal), { objectMode: false }),
  };
}

async function* chunksOf(
  pieces: readonly (Buffer | LinkedFile)[],
  files: MarkedFiles,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) yield piece;
    else yield* base64Of(piece, files, signal);
  }
}

/** Bytes that become base64 text together: a multiple of 3. The text is so short that it is freed soon. */
const ENCODED_BYTES = 48 * 1024;

async function* base64Of(
  file: LinkedFile,
  { read }: MarkedFiles,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const bytes of read(file, signal)) {
    const piece =
      rest.byteLength === 0
        ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        : Buffer.concat([rest, bytes]);
    const whole = piece.byteLength - (piece.byteLength % 3);
    for (let at = 0; at < whole; at += ENCODED_BYTES) {
      yield Buffer.from(piece.toString('base64', at, Math.min(whole, at + ENCODED_BYTES)), 'latin1');
    }
    rest = piece.subarray(whole);
  }
  if (rest.byteLength > 0) yield Buffer.from(rest.toString('base64'), 'latin1');
}

function bodyOf(
  model: Pick<ModelConfig, 'model' | 'params'> | null,
  { conversationJson }: ProviderRequest,
  format: WireFormat,
): Buffer {
  if (model === null) return Buffer.from(conversationJson);
  const { messages: _, ...members } = requestMembers(model, format);
  // Joins two objects: the first without its closing brace, the second without its opening one.
  return Buffer.concat([
    conversationJson.subarray(0, -1),
    Buffer.from(`,${canonicalJson(members).slice(1)}`),
  ]);
}

/** The members of a request body besides the conversation: the model and its parameters. */
export function requestMembers(
  { model, params }: Pick<ModelConfig, 'model' | 'params'>,
  format: WireFormat,
): JsonObject {
  const limit = format === 'anthropic_messages' ? { max_tokens: DEFAULT_ANTHROPIC_TOKENS } : {};
  return { ...limit, ...params, model };
}

/** The version of the Messages API whose format this service reads and writes. */
const ANTHROPIC_VERSION = '2023-06-01';

/**
 * The part of a model's requests that is the same for every item: where they go, and their headers.
 *
 * @param apiKey null for a server that needs none
 */
export function modelRequest(
  model: Pick<ModelConfig, 'base_url' | 'auth' | 'query' | 'extra_headers'>,
  format: WireFormat,
  apiKey: string | null,
) {
  const isAnthropic = format === 'anthropic_messages';
  const extra = Object.entries(model.extra_headers ?? {});
  const headers: Readonly<Record<string, string>> = {
    ...(isAnthropic ? { 'anthropic-version': ANTHROPIC_VERSION } : {}),
    ...Object.fromEntries(extra.map(([name, value]) => [name.toLowerCase(), value])),
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...(apiKey === null ? {} : keyHeader(apiKey, isAnthropic ? 'x-api-key' : (model.auth ?? 'bearer'))),
  };
  const url = new URL(`${model.base_url}${isAnthropic ? '/v1/messages' : '/chat/completions'}`);
  for (const [name, value] of Object.entries(model.query ?? {})) url.searchParams.append(name, value);
  return { url, headers };
}

function keyHeader(apiKey: string, auth: 'bearer' | 'api-key' | 'x-api-key'): Record<string, string> {
  return auth === 'bearer' ? { authorization: `Bearer ${apiKey}` } : { [auth]: apiKey };
}

/** Bytes of UTF-8 for each token of most models and languages. */
const BYTES_PER_TOKEN = 4;

/** A rough number of input tokens of a request: its bytes by four. Files count as nothing: their models differ too much. */
export function estimateInputTokens({ conversationJson }: ProviderRequest): number {
  return Math.ceil(conversationJson.byteLength / BYTES_PER_TOKEN);
}

/** Separates what is hashed; JSON text never contains it. */
const SEPARATOR = Buffer.of(0);
/** A longer conversation is hashed outside the main thread. */
const MAX_INLINE_BYTES = 1024 * 1024;

/**
 * The SHA-256 of what a model is asked: URL, headers without the key, model, parameters, repetition and conversation, with
 * each file as its own SHA-256. Requests of one hash ask the same, so that one answer serves all of them.
 *
 * @param repetition from 1: each one has a separate response
 */
export async function hashRequest(
  model: ModelConfig,
  request: ProviderRequest,
  format: WireFormat,
  repetition: number,
): Promise<Uint8Array> {
  const { url, headers } = modelRequest(model, format, null);
  const asked = canonicalJson({
    url: url.href,
    headers,
    body: requestMembers(model, format),
    repetition,
  });
  const { conversationJson, files } = request;
  const pieces: Uint8Array[] = [Buffer.from(asked), SEPARATOR];
  if (files === undefined) pieces.push(conversationJson);
  else {
    for (const piece of splitAtMarks(Buffer.from(conversationJson).toString(), files)) {
      pieces.push(
        ...(typeof piece === 'string' ? [Buffer.from(piece)] : [SEPARATOR, Buffer.from(piece.sha256)]),
      );
    }
  }
  if (conversationJson.byteLength > MAX_INLINE_BYTES) {
    return new Uint8Array(await crypto.subtle.digest('SHA-256', Buffer.concat(pieces)));
  }
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}
