import type { Writable } from 'node:stream';

/**
 * Writes to a stream and waits until it has taken the bytes: a slow reader slows the writer.
 *
 * @throws what the stream fails with: `EPIPE` when its reader went away, `ENOSPC` when a file is full
 */
export function writeText(stream: Writable, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
