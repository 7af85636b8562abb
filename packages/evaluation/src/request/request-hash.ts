import { createHash } from 'node:crypto';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { splitAtMarks } from '../assets/marked-files.ts';
import type { ModelConfig } from '../config/run-config.ts';
import { wireConversation } from '../item/wire-conversation.ts';
import type { ProviderRequest, WireFormat } from '../provider.ts';
import { modelRequest } from './model-request.ts';
import { requestMembers } from './request-body.ts';

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
    headers: { ...headers },
    body: requestMembers(model, format),
    repetition,
  });
  const { conversationJson, files } = request;
  const conversation =
    conversationJson ?? Buffer.from(canonicalJson(wireConversation(request.messages, format)));
  const pieces: Uint8Array[] = [Buffer.from(asked), SEPARATOR];
  if (files === undefined) pieces.push(conversation);
  else {
    for (const piece of splitAtMarks(Buffer.from(conversation).toString(), files)) {
      pieces.push(
        ...(typeof piece === 'string' ? [Buffer.from(piece)] : [SEPARATOR, Buffer.from(piece.sha256)]),
      );
    }
  }
  if (conversation.byteLength > MAX_INLINE_BYTES) {
    return new Uint8Array(await crypto.subtle.digest('SHA-256', Buffer.concat(pieces)));
  }
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}
