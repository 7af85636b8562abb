import { fetchTransport, type OpenTransport } from './http/transport.ts';
import { parseYaml, type YamlLocation, type YamlValue } from './repository/parse-yaml.ts';

/** A browser has no dispatcher. */
export type HttpDispatcher = never;

/** HTTP by the browser's own `fetch`, which has no timeout for connecting: the one for headers holds. */
export function openTransport(): OpenTransport {
  return {
    send: fetchTransport((url, init) => globalThis.fetch(url, init)),
    async close() {},
  };
}

/** Web Crypto hashes only what is in memory as a whole, so streams go unhashed in browsers. */
export function createSha256(): { update(bytes: Uint8Array): void; hex(): string } | null {
  return null;
}

/** Parses YAML, at once: a browser waits for nobody else. @throws HubError `hub_unsupported_dataset` */
export async function parseYamlApart(text: string, location: YamlLocation): Promise<YamlValue> {
  return parseYaml(text, location);
}
