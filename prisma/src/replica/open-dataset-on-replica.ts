import type { StoredSection } from '../database/dataset-row.ts';
import { joinStoredItem } from '../database/read-stored-json.ts';
import type { OpenDataset } from '../datasets/open-dataset.ts';
import type { StoredItem } from '../items/list-items.ts';

interface OnReplicaOptions {
  /** Called once at most. */
  readonly openOnPrimary: () => Promise<OpenDataset>;
  /** Decides by the error. */
  readonly mayGoOn: (error: unknown) => boolean;
  /** Called when the dataset is closed. */
  readonly onRead: (outcome: 'replica' | 'repeated') => void;
}

/**
 * A dataset that is open on the replica, and continues from the primary when the replica fails: items never change, so a
 * reader of them notices nothing. The results of a run may change, so a reader of those gets the error.
 *
 * @param open on the replica; disposed with the result
 */
export function openDatasetOnReplica(
  open: OpenDataset,
  { openOnPrimary, mayGoOn, onRead }: OnReplicaOptions,
): OpenDataset {
  let onPrimary: Promise<OpenDataset> | undefined;
  let isClosed = false;
  const source = async (): Promise<OpenDataset> => (await onPrimary) ?? open;
  const change = (from: OpenDataset, error: unknown): Promise<OpenDataset> => {
    if (from !== open || !mayGoOn(error)) throw error;
    onPrimary ??= openOnPrimary();
    return onPrimary;
  };
  const once = async <T>(read: (from: OpenDataset) => Promise<T>): Promise<T> => {
    const from = await source();
    try {
      return await read(from);
    } catch (error) {
      return await read(await change(from, error));
    }
  };
  /** @param given by `open`, if that is still read */
  async function* piecesOf(
    given: AsyncIterable<Uint8Array> | null,
    read: (from: OpenDataset) => Uint8Array | AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const from = given === null ? await source() : open;
    let bytes = 0;
    try {
      for await (const piece of given ?? each(read(from))) {
        yield piece;
        bytes += piece.byteLength;
      }
    } catch (error) {
      yield* bytesAfter(bytes, each(read(await change(from, error))));
    }
  }

  async function* items(
    sections: readonly StoredSection[] = open.sections,
  ): AsyncGenerator<StoredItem[], void, undefined> {
    const from = await source();
    let last: StoredItem | undefined;
    try {
      for await (const batch of from.items(sections)) {
        yield batch;
        last = batch.at(-1) ?? last;
      }
    } catch (error) {
      yield* itemsAfter(last, await change(from, error), sections);
    }
  }

  return {
    dataset: open.dataset,
    sections: open.sections,
    items,
    // As texts: another server can continue a line that was sent in part only as text.
    async *lines(sections) {
      for await (const batch of items(sections)) {
        yield batch.map((item) => (item.linkedFiles.length > 0 ? item : joinStoredItem(item)));
      }
    },
    itemAt: (section, orderIndex) => once((from) => from.itemAt(section, orderIndex)),
    content(asset, following) {
      const given = onPrimary === undefined ? open.content(asset, following) : null;
      return given instanceof Uint8Array ? given : piecesOf(given, (from) => from.content(asset, following));
    },
    run: (runId) => once((from) => from.run(runId)),
    async *results(runId) {
      yield* (await source()).results(runId);
    },
    async *resultsBeside(runId) {
      yield* (await source()).resultsBeside(runId);
    },
    async [Symbol.asyncDispose]() {
      if (!isClosed) onRead(onPrimary === undefined ? 'replica' : 'repeated');
      isClosed = true;
      await open[Symbol.asyncDispose]();
      const opened = await onPrimary?.catch(() => undefined);
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

/** The items behind one that was read; all of them without it. */
async function* itemsAfter(
  last: StoredItem | undefined,
  from: OpenDataset,
  sections: readonly StoredSection[],
): AsyncGenerator<StoredItem[], void, undefined> {
  const isNew = ({ sectionOrderIndex, orderIndex }: StoredItem): boolean =>
    last === undefined ||
    sectionOrderIndex > last.sectionOrderIndex ||
    (sectionOrderIndex === last.sectionOrderIndex && orderIndex > last.orderIndex);
  const left = sections.filter(({ orderIndex }) => orderIndex >= (last?.sectionOrderIndex ?? 0));
  for await (const batch of from.items(left)) {
    const items = batch.filter(isNew);
    if (items.length > 0) yield items;
  }
}

async function* each(content: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) yield content;
  else yield* content;
}

async function* bytesAfter(read: number, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = read;
  for await (const piece of pieces) {
    if (left < piece.byteLength) yield left === 0 ? piece : piece.subarray(left);
    left = Math.max(0, left - piece.byteLength);
  }
}
