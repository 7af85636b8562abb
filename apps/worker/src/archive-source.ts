import type { ByteSource } from '@svc/pkg-format';
import { type JobStore, StoreError } from '@svc/store';

export interface ArchiveFacts {
  readonly jobId: string;
  readonly archiveBytes: number;
  /** Bytes of every chunk but the last. */
  readonly chunkBytes: number;
}

export interface ArchiveSource extends ByteSource {
  /** How much of the archive was read at least once: it grows up to `byteLength`. */
  readonly readBytes: number;
}

/** Chunks in memory: reading mostly goes forward. */
const HELD_CHUNKS = 4;

/**
 * Gives random access to an archive that the database stores in chunks, so that a worker needs no disk for it. Memory holds
 * a few chunks.
 *
 * @throws StoreError `job_finished` where the archive is gone, `unavailable`
 */
export function archiveSource(
  jobs: Pick<JobStore, 'readArchiveChunk'>,
  { jobId, archiveBytes, chunkBytes }: ArchiveFacts,
): ArchiveSource {
  const seen = new Set<number>();
  let readBytes = 0;
  const held = new Map<number, Promise<Uint8Array>>();

  const fetchChunk = async (index: number): Promise<Uint8Array> => {
    const bytes = await jobs.readArchiveChunk(jobId, index);
    if (bytes === null) throw new StoreError('job_finished', 'The archive of the job has been deleted.');
    if (!seen.has(index)) readBytes += bytes.byteLength;
    seen.add(index);
    return bytes;
  };
  /** Drops the chunk that was used longest ago, and one that could not be read. */
  const chunk = (index: number): Promise<Uint8Array> => {
    const found = held.get(index) ?? fetchChunk(index);
    held.delete(index);
    held.set(index, found);
    found.catch(() => held.delete(index));
    for (const oldest of held.keys()) {
      if (held.size <= HELD_CHUNKS) break;
      held.delete(oldest);
    }
    return found;
  };

  return {
    byteLength: archiveBytes,
    get readBytes() {
      return readBytes;
    },
    async read(start, end) {
      const last = Math.min(end, archiveBytes);
      if (start >= last) return new Uint8Array(0);
      const parts: Uint8Array[] = [];
      for (let at = start; at < last; ) {
        const index = Math.floor(at / chunkBytes);
        const from = at - index * chunkBytes;
        const part = (await chunk(index)).subarray(from, Math.min(chunkBytes, from + last - at));
        if (part.byteLength === 0) break;
        parts.push(part);
        at += part.byteLength;
      }
      return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
    },
  };
}
