import type { HubClient } from '@svc/hub-client';
import type { PackageLimits } from '@svc/pkg-format';
import type { Config, HealthDeps, Keys, TokenCipher } from '@svc/service';
import type { Semaphore } from '@svc/service/concurrency';
import type { CheckRunner } from '@svc/service/evaluation';
import type { ThreadReader, ToolConverter } from '@svc/service/flows';
import type { Store, WorkerBoard } from '@svc/service/store';
import type { StagingFolder } from '../http/staging-folder.ts';
import type { ConsoleFiles } from './console.ts';
import type { HubFiles } from './hub-serving/files/hub-files.ts';

export interface RouteDeps extends HealthDeps {
  readonly config: Config;
  readonly store: Store;
  readonly hub: Pick<HubClient, 'openDataset' | 'findDatasets'>;
  /** Of this service, which packages name as their writer. */
  readonly version: string;
  readonly keys: Keys;
  /** Secrets known to this process, which no run, result or export may hold. */
  readonly secrets: readonly string[];
  /** Encrypts the hub tokens of asynchronous imports; null without a key. */
  readonly tokenCipher: TokenCipher | null;
  readonly staging: StagingFolder;
  readonly limits: PackageLimits;
  /** Bounds uploads, from their first byte to their end. */
  readonly uploads: Semaphore;
  /** Bounds requests that send results, and the long lines in memory. */
  readonly pushes: Semaphore;
  readonly longLines: Semaphore;
  readonly checks: CheckRunner;
  /** Scores outputs that clients send, apart from what requests wait for. */
  readonly pushChecks: CheckRunner;
  readonly reader: ThreadReader;
  readonly converter: ToolConverter;
  readonly workers: Pick<WorkerBoard, 'workers' | 'providerMinutes'>;
  readonly files: HubFiles;
  readonly console: ConsoleFiles | null;
  /** Aborts when the server starts to drain: event streams then end. */
  readonly drainSignal: AbortSignal;
}
