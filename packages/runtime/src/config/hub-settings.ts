import type { Config } from './load-config.ts';

/** The part of the configuration that the hub client of every process uses. */
export interface HubSettings {
  readonly endpoint: string;
  readonly token: string | undefined;
  readonly cacheDir: string | undefined;
  readonly cacheMaxBytes: number;
}

/** The part of the configuration that concerns the hub. */
export function hubSettings(config: Config): HubSettings {
  return {
    endpoint: config.hubEndpoint,
    token: config.hubToken?.reveal(),
    cacheDir: config.hubCacheDir,
    cacheMaxBytes: config.hubCacheBytes,
  };
}
