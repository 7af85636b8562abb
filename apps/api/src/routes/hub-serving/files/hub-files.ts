import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@svc/service';
import { untilAborted } from '@svc/service/concurrency';
import {
  type HubFile,
  type LayoutKey,
  type ListedHubFile,
  type SectionFiles,
  type Store,
  StoreError,
} from '@svc/service/store';
import type { ItemEncoder } from '../thread/item-encoder.ts';
import { makeTables, readColumns, type TableFacts } from './make-tables.ts';
import { cutBefore, filesFormat, planFiles, readSections, sumOf, type VersionKey } from './plan-files.ts';

export type HubFiles = ReturnType<typeof createHubFiles>;

export interface MeasuredFile extends ListedHubFile {
  readonly byteLength: number;
  readonly tag: string;
}

/** Whether a dataset or its version was deleted while it was read. */
export const isGone = (error: unknown): boolean =>
  error instanceof StoreError && ['dataset_not_found', 'version_not_found'].includes(error.code);

const SOON_MS = 1_000;
/**
 * Tables are made before anybody asks where the lines of a version have at most so many bytes. One stored file may be embedded
 * in each item, and its tables then have a thousand times the bytes of the upload.
 */
const ANNOUNCED_BYTES = 512 * 1024 * 1024;
/** Tables that are made for one request before others have their turn: their lines, and how many. */
const TURN_BYTES = 4 * 1024 * 1024;
const TURN_FILES = 256;

/**
 * Each file is made once: in the background after its version was stored, or by the first request, which waits. Every method
 * throws StoreError of reading, and the reason of its signal, at which the work goes on for others.
 */
export function createHubFiles(
  deps: {
    readonly store: Pick<Store, 'assets' | 'datasets' | 'hubFiles'>;
    readonly encoder: ItemEncoder;
    readonly logger: Logger;
  },
  stopSignal: AbortSignal,
) {
  const { store, encoder, logger } = deps;
  const { hubFiles } = store;
  const format = filesFormat();
  /** What this process makes: whoever needs it waits for the same. */
  const making = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, VersionKey>();
  let isWorking = false;

  async function once<T>(name: string, signal: AbortSignal, make: () => Promise<T>): Promise<T> {
    const made = (making.get(name) as Promise<T> | undefined) ?? make().finally(() => making.delete(name));
    making.set(name, made);
    return await untilAborted(made, signal);
  }

  async function layout({ datasetId, version }: VersionKey, signal: AbortSignal): Promise<LayoutKey> {
    const key = { datasetId, version, format };
    if ((await hubFiles.findColumns(key, signal)) !== undefined) return key;
    await once(`layout ${nameOf(key)}`, signal, async () => {
      const sections = await readSections(store, key, stopSignal);
      await hubFiles.add(key, await planFiles(hubFiles, sections, stopSignal));
    });
    announce(key);
    return key;
  }

  /** The columns of its tables, and the tasks that Inspect makes of it. */
  async function facts(key: LayoutKey, signal: AbortSignal): Promise<TableFacts> {
    const known = await hubFiles.findColumns(key, signal);
    if (typeof known === 'string') return JSON.parse(known) as TableFacts;
    return await once(`columns ${nameOf(key)}`, signal, async () => {
      const sections = await readSections(store, key, stopSignal);
      const read = await readColumns({ hubFiles, encoder }, sections, stopSignal);
      await hubFiles.setColumns(key, JSON.stringify(read));
      return read;
    });
  }

  async function make(
    key: LayoutKey,
    files: readonly (HubFile & { readonly isKept: boolean })[],
    isKept: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const isMissing = (file: (typeof files)[number]): boolean =>
      isTable(file.path) && (file.byteLength === null || (isKept && !file.isKept));
    for (const some of turnsOf(files.filter(isMissing))) {
      const others = some.flatMap(({ path }) => making.get(`table ${nameOf(key)} ${path}`) ?? []);
      const mine = some.filter(({ path }) => !making.has(`table ${nameOf(key)} ${path}`));
      const made = mine.length === 0 ? null : makeNow(key, mine);
      for (const { path } of mine) {
        const name = `table ${nameOf(key)} ${path}`;
        making.set(
          name,
          (made as Promise<void>).finally(() => making.delete(name)),
        );
        making.get(name)?.catch(() => undefined);
      }
      await untilAborted(Promise.all([...others, made]), signal);
    }
  }

  async function makeNow(key: LayoutKey, files: readonly HubFile[]): Promise<void> {
    const sections = await readSections(store, key, stopSignal);
    const { columns } = await facts(key, stopSignal);
    await makeTables({ hubFiles, encoder }, key, sections, columns, files, stopSignal);
  }

  /** Makes the files of a version in the background unless they are large, instead of those of older versions of its dataset. */
  function announce(version: VersionKey): void {
    for (const [name, other] of waiting) if (isBefore(other, version)) waiting.delete(name);
    waiting.set(nameOf(version), version);
    if (!isWorking) void work();
  }

  async function work(): Promise<void> {
    isWorking = true;
    while (waiting.size > 0 && !stopSignal.aborted) {
      const [name, version] = [...waiting][0] as [string, VersionKey];
      waiting.delete(name);
      await makeAll(version);
    }
    isWorking = false;
  }

  async function makeAll(version: VersionKey): Promise<void> {
    const startedAt = performance.now();
    let files = 0;
    const told = () => ({
      dataset_id: version.datasetId,
      version: version.version,
      files,
      duration_ms: Math.round(performance.now() - startedAt),
    });
    try {
      // Users come first, such as one who exports what was just imported.
      await hubFiles.quiet(stopSignal);
      const key = await layout(version, stopSignal);
      await facts(key, stopSignal);
      if (lineBytesOf(await hubFiles.sections(key, stopSignal)) > ANNOUNCED_BYTES) return;
      for (;;) {
        await hubFiles.quiet(stopSignal);
        const paths = await hubFiles.unmade(key, TURN_FILES, stopSignal);
        if (paths.length === 0 || [...waiting.values()].some((other) => isBefore(version, other))) break;
        // One turn, then the tables that no request has made meanwhile.
        const [some = []] = turnsOf(await hubFiles.find(key, paths, stopSignal));
        await make(key, some, false, stopSignal);
        files += some.length;
      }
      if (files > 0) logger.log('hub.layout.finish', told());
    } catch (error) {
      if (!stopSignal.aborted && !isGone(error)) logger.log('hub.layout.fail', { ...told(), error });
    }
  }

  return {
    layout,
    facts,
    factsSoon: (key: LayoutKey, signal: AbortSignal) => soon(facts(key, signal)),
    /** Those of these files that exist, with their sizes. @param isKept whether their bytes are to be there too */
    async find(key: LayoutKey, paths: readonly string[], signal: AbortSignal, isKept = false) {
      await make(key, await hubFiles.find(key, paths, signal), isKept, signal);
      const files = await hubFiles.find(key, paths, signal);
      return files.map(({ byteLength, tag, ...file }): HubFile & MeasuredFile => {
        // Its layout was deleted, and added again.
        if (byteLength === null || tag === null) throw new Error(`${file.path} was not made.`);
        return { ...file, byteLength, tag };
      });
    },
    announce,
  };
}

async function soon<T>(promise: Promise<T>): Promise<T | null> {
  const late = new AbortController();
  const timeout = delay(SOON_MS, null, { signal: late.signal });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    late.abort();
  }
}

const nameOf = ({ datasetId, version }: VersionKey): string => `${datasetId} ${version}`;

const isBefore = (one: VersionKey, other: VersionKey): boolean =>
  one.datasetId === other.datasetId && one.version < other.version;

const lineBytesOf = (sections: readonly SectionFiles[]): number =>
  sumOf(sections.map(({ lineBytes }) => lineBytes));

const isTable = (path: string): boolean => path.startsWith('data/');

const turnsOf = <File extends Pick<HubFile, 'groupBytes'>>(files: readonly File[]): readonly File[][] =>
  cutBefore(files, (turn) => {
    const bytes = sumOf(turn.flatMap(({ groupBytes }) => groupBytes));
    return bytes >= TURN_BYTES || turn.length === TURN_FILES;
  });
