import type { Writable } from 'node:stream';

/**
 * Writes to a stream and waits until it has accepted the bytes, so that a slow reader slows the writer.
 *
 * @throws the error of the stream: `EPIPE` if its reader closed it, `ENOSPC` if the disk is full
 */
export function writeText(stream: Writable, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
