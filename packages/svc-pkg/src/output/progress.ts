import type { Cli } from '../cli-context.ts';
import { formatBytes } from '../text/format.ts';

const BAR_WIDTH = 30;
const REDRAW_INTERVAL_MS = 100;
/** ECMA-48: carriage return, and erase to the end of the line. */
const CLEAR_LINE = '\r\u001b[K';

/**
 * Shows a bar on a terminal that can redraw a line, and nothing in a pipe or with `--json` or `--quiet`. The cursor
 * stays visible: a killed process could not show it again. Disposing removes it.
 */
export function showProgress(cli: Cli, label: string, unit: 'bytes' | 'rows' | 'items' = 'bytes') {
  const canRedraw = cli.isTerminal && cli.env['TERM'] !== 'dumb';
  if (!canRedraw || cli.json || cli.quiet) return { update: () => {}, [Symbol.dispose]: () => {} };
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    /** @param total the whole amount, null if unknown */
    update(done: number, total: number | null) {
      const now = performance.now();
      if (now - drawnAt < REDRAW_INTERVAL_MS && done !== total) return;
      drawnAt = now;
      const text = barText(label, done, total, unit).slice(0, cli.columns - 1);
      cli.stderr.write(`${CLEAR_LINE}${text}`);
    },
    [Symbol.dispose]: () => {
      if (drawnAt > Number.NEGATIVE_INFINITY) cli.stderr.write(CLEAR_LINE);
    },
  };
}

function barText(label: string, done: number, total: number | null, unit: string): string {
  const amount = (count: number): string => (unit === 'bytes' ? formatBytes(count) : `${count} ${unit}`);
  if (total === null || total <= 0) return `${label} ${amount(done)}`;
  const part = Math.min(1, done / total);
  const bar = '#'.repeat(Math.round(part * BAR_WIDTH)).padEnd(BAR_WIDTH, '.');
  return `${label} [${bar}] ${Math.floor(part * 100)}% of ${amount(total)}`;
}

/** Passes on what a service sends; a terminal shows how much it is. @returns the number of bytes */
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
