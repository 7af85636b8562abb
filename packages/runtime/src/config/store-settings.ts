import { availableParallelism } from 'node:os';
import type { Config, Limits } from './load-config.ts';
import type { S3Location } from './s3-location.ts';

/** The part of the configuration that the store of every process uses. */
export interface StoreSettings {
  readonly directUrl: string | undefined;
  readonly assetStore: S3Location | null;
  readonly poolSize: number;
  readonly maxImports: number;
  readonly importWaitMs: number;
  readonly maxItemBytes: number;
  readonly importLimits: {
    readonly maxTotalBytes: number;
    readonly maxExpansionRatio: number;
    readonly maxRows: number;
  };
  /** 0 on a machine with one core, where threads would only take turns. */
  readonly encoderThreads: number;
}

/** The part of the configuration that concerns the store, without the URL of its database. */
export function storeSettings(config: Config): StoreSettings {
  return {
    directUrl: config.databaseDirectUrl?.reveal(),
    assetStore: config.assetStore,
    poolSize: config.databasePoolSize,
    maxImports: config.maxConcurrentImports,
    importWaitMs: config.importWaitMs,
    maxItemBytes: config.maxLineBytes,
    importLimits: importLimits(config),
    encoderThreads: availableParallelism() > 1 ? config.workerConcurrency : 0,
  };
}

/** The configured limits of what one import makes. */
export function importLimits(config: Limits): StoreSettings['importLimits'] {
  const { maxUncompressedBytes: maxTotalBytes, maxExpansionRatio, maxRows } = config;
  return { maxTotalBytes, maxExpansionRatio, maxRows };
}
