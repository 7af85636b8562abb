import type { ModelConfig } from '../config/run-config.ts';
import type { WireFormat } from '../provider.ts';

/** The part of a request that is the same for every item: where it goes, and its headers. */
export interface ModelRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** The version of the Messages API whose format this service reads and writes. */
const ANTHROPIC_VERSION = '2023-06-01';

/**
 * The URL and the headers of a model's requests.
 *
 * @param apiKey null for a server that needs none
 */
export function modelRequest(
  model: Pick<ModelConfig, 'base_url' | 'auth' | 'query' | 'extra_headers'>,
  format: WireFormat,
  apiKey: string | null,
): ModelRequest {
  const isAnthropic = format === 'anthropic_messages';
  const url = new URL(`${model.base_url}${isAnthropic ? '/v1/messages' : '/chat/completions'}`);
  for (const [name, value] of Object.entries(model.query ?? {})) url.searchParams.append(name, value);
  return {
    url,
    headers: {
      ...(isAnthropic ? { 'anthropic-version': ANTHROPIC_VERSION } : {}),
      ...Object.fromEntries(
        Object.entries(model.extra_headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
      ),
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(apiKey === null ? {} : keyHeader(apiKey, isAnthropic ? 'x-api-key' : (model.auth ?? 'bearer'))),
    },
  };
}

function keyHeader(apiKey: string, auth: 'bearer' | 'api-key' | 'x-api-key'): Record<string, string> {
  return auth === 'bearer' ? { authorization: `Bearer ${apiKey}` } : { [auth]: apiKey };
}
