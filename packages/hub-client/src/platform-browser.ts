import type { FileCache } from './cache/file-cache.ts';
import { HubError } from './errors.ts';
import { fetchTransport, type OpenTransport } from './http/transport.ts';
import type { YamlLocation, YamlValue } from './repository/metadata.ts';

/** A browser has no dispatcher. */
export type HttpDispatcher = never;

/** HTTP by the browser's own `fetch`, which has no timeout for connecting: the one for headers includes it. */
export function openTransport(): OpenTransport {
  return {
    send: fetchTransport((url, init) => globalThis.fetch(url, init)),
    async close() {},
  };
}

/** @throws HubError `invalid_request`: a browser has no folder, and keeps responses itself */
export function openDiskCache(): FileCache {
  throw new HubError('invalid_request', '`cacheDir` needs Node.');
}

/** Null: Web Crypto cannot hash streams. */
export function createSha256(): { update(bytes: Uint8Array): void; hex(): string } | null {
  return null;
}

/** Parses YAML on this thread, with a parser that is loaded when it is needed. @throws HubError `hub_unsupported_dataset` */
export async function parseYamlApart(text: string, location: YamlLocation): Promise<YamlValue> {
  const { parseYaml } = await import('./repository/parse-yaml.ts');
  return parseYaml(text, location);
}
