import { Readable } from 'node:stream';
import type { LinkedFile } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { type MarkedFiles, splitAtMarks } from '../assets/marked-files.ts';
import type { ModelConfig } from '../config/run-config.ts';
import { wireConversation } from '../item/wire-conversation.ts';
import type { ProviderRequest, WireFormat } from '../provider.ts';

/** The limit that the Messages API requires, if `params` has none. */
const DEFAULT_ANTHROPIC_TOKENS = 4096;

/** The body of a request, which each attempt sends again: in memory, or read while it is sent. */
export interface RequestBody {
  readonly byteLength: number;
  open(signal: AbortSignal): string | Buffer | Readable;
}

/** The body of a request to a model. Memory holds a piece of its files. */
export function requestBody(
  model: Pick<ModelConfig, 'model' | 'params'>,
  request: ProviderRequest,
  format: WireFormat,
): RequestBody {
  const body = bodyText(model, request, format);
  const { files } = request;
  if (files !== undefined && body.includes(files.mark)) return withFiles(String(body), files);
  return { byteLength: Buffer.byteLength(body), open: () => body };
}

/** The beginning of a data URL, before the base64 text of a file. */
const DATA_URL = /data:[^",]{0,256};base64,$/;

/**
 * The body of a request as text, with links in place of the content of files, and of the data URLs that have it.
 *
 * @param model null for the conversation alone
 * @param link of a file, without quotes and control characters
 */
export function requestText(
  model: Pick<ModelConfig, 'model' | 'params'> | null,
  request: ProviderRequest,
  format: WireFormat,
  link: (file: LinkedFile) => string,
): string {
  const body = String(bodyText(model, request, format));
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

/** The base64 text of a file, as its content comes. */
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

/** The body with marks in place of files. It copies the conversation of a large item without parsing it. */
function bodyText(
  model: Pick<ModelConfig, 'model' | 'params'> | null,
  { messages, conversationJson }: ProviderRequest,
  format: WireFormat,
): string | Buffer {
  const members = model === null ? {} : requestMembers(model, format);
  if (conversationJson === undefined) {
    return canonicalJson({ ...members, ...wireConversation(messages, format) });
  }
  if (model === null) {
    return Buffer.from(conversationJson.buffer, conversationJson.byteOffset, conversationJson.byteLength);
  }
  delete members['messages'];
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
