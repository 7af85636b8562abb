import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** How much the reader of a stream takes, at least, in the time that it has. */
const PIECE_BYTES = 512 * 1024;

/** Writes the bytes of a stream, and watches how fast they are taken. */
export interface PacedWriter {
  /** Writes; resolves when more may come. */
  write(chunk: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Watches over what is left, after the last byte was given to the response. */
  end(): void;
}

/**
 * Destroys a response whose reader takes longer than `timeoutMs` for 512 KiB. Only the time counts in which we
 * wait for the reader: a stream holds a connection to the database, and one that stands still or is sipped would
 * keep it from everybody else.
 */
export function watchPace(response: ServerResponse, timeoutMs: number): PacedWriter {
  let leftMs = timeoutMs;
  let takenBytes = 0;
  let writtenBytes = 0;

  async function waitForReader(signal: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    const timer = setTimeout(() => response.destroy(), leftMs);
    try {
      await once(response, 'drain', { signal });
    } finally {
      clearTimeout(timer);
    }
    leftMs = Math.max(1, leftMs - (performance.now() - startedAt));
    takenBytes += writtenBytes;
    writtenBytes = 0;
    if (takenBytes < PIECE_BYTES) return;
    takenBytes = 0;
    leftMs = timeoutMs;
  }

  return {
    write: async (chunk, signal) => {
      for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) {
        const piece = chunk.subarray(at, at + PIECE_BYTES);
        writtenBytes += piece.byteLength;
        if (!response.write(piece)) await waitForReader(signal);
      }
    },
    end: () => {
      if (response.closed) return;
      const timer = setTimeout(() => response.destroy(), timeoutMs);
      response.once('close', () => clearTimeout(timer));
    },
  };
}
