import type { Cli } from '../cli-context.ts';
import { showProgress } from './progress.ts';

/**
 * Passes on what a service sends; a terminal shows how much it is.
 *
 * @param byteLength of the whole; null if unknown
 * @returns the number of bytes
 * @throws the signal's reason; what the body and `write` throw
 */
export async function receive(
  cli: Cli,
  body: AsyncIterable<Uint8Array>,
  byteLength: number | null,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<number> {
  using progress = showProgress(cli, 'receiving');
  let bytes = 0;
  for await (const chunk of body) {
    cli.signal.throwIfAborted();
    await write(chunk);
    bytes += chunk.byteLength;
    progress.update(bytes, byteLength);
  }
  cli.signal.throwIfAborted();
  return bytes;
}
