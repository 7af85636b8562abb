import type { LinkedFile } from '@svc/jsonl-v23/assets';
import { describe, expect, it } from 'vitest';
import type { ModelConfig } from '../config/run-config.ts';
import { conversationOf } from '../item/wire-conversation.ts';
import type { ProviderRequest } from '../provider.ts';
import { hashRequest } from './request-body.ts';

const MODEL: ModelConfig = {
  base_url: 'https://a.example/v1',
  model: 'm',
  params: { temperature: 0, max_tokens: 9 },
};
const asking = (content: string): ProviderRequest =>
  conversationOf([{ role: 'user', content }], 'chat_completions');
const hashOf = async (
  model: ModelConfig = MODEL,
  request = asking('2 + 2 ='),
  format: 'chat_completions' | 'anthropic_messages' = 'chat_completions',
  repetition = 1,
): Promise<string> => Buffer.from(await hashRequest(model, request, format, repetition)).toString('hex');

describe('hashRequest', () => {
  it.each<[string, () => Promise<string>]>([
    ['the origin', () => hashOf({ ...MODEL, base_url: 'https://b.example/v1' })],
    ['the path', () => hashOf({ ...MODEL, base_url: 'https://a.example/v2' })],
    ['the query', () => hashOf({ ...MODEL, query: { 'api-version': '1' } })],
    ['a header', () => hashOf({ ...MODEL, extra_headers: { 'x-beta': '1' } })],
    ['the model', () => hashOf({ ...MODEL, model: 'n' })],
    ['a parameter', () => hashOf({ ...MODEL, params: { ...MODEL.params, temperature: 0.1 } })],
    ['a message', () => hashOf(MODEL, asking('2 + 3 ='))],
    ['the API', () => hashOf(MODEL, undefined, 'anthropic_messages')],
    ['the repetition', () => hashOf(MODEL, undefined, undefined, 2)],
  ])('differs with %s', async (_, other) => {
    expect(await other()).not.toBe(await hashOf());
  });

  it('does not depend on the key and on the order of parameters', async () => {
    const expected = await hashOf();
    const params = { max_tokens: 9, temperature: 0 };
    expect(await hashOf({ ...MODEL, params, api_key_env: 'SVC_PROVIDER_A', auth: 'api-key' })).toBe(expected);
  });

  it('takes each file by its content, whatever its mark', async () => {
    const withFile = (mark: string, sha256: string): ProviderRequest => ({
      ...asking(`data:image/png;base64,${mark}0z!`),
      files: { mark, files: [{ sha256 } as LinkedFile], read: () => Promise.reject() as never },
    });
    const expected = await hashOf(MODEL, withFile('file1n', 'a'.repeat(64)));
    expect(await hashOf(MODEL, withFile('file2n', 'a'.repeat(64)))).toBe(expected);
    expect(await hashOf(MODEL, withFile('file1n', 'b'.repeat(64)))).not.toBe(expected);
    expect(await hashOf(MODEL, asking(`data:image/png;base64,${'a'.repeat(64)}!`))).not.toBe(expected);
  });

  it('gives a long conversation a hash of its own', async () => {
    const long = 'x'.repeat(2_000_000);
    expect(await hashOf(MODEL, asking(long))).toBe(await hashOf(MODEL, asking(long)));
    expect(await hashOf(MODEL, asking(long))).not.toBe(await hashOf(MODEL, asking(`${long}y`)));
  });
});
