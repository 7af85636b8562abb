import cliProgress from 'cli-progress';
import type { Cli } from '../cli-context.ts';
import { formatBytes } from '../text/format-bytes.ts';

/** A progress bar; disposing removes it. */
export interface Progress extends Disposable {
  /**
   * @param done the amount done so far
   * @param total the whole amount, null if unknown
   */
  update(done: number, total: number | null): void;
}

const BAR_WIDTH = 30;

/**
 * Shows a bar on a terminal, and nothing in a pipe or with `--json`.
 *
 * @param label what the command is doing, in one word
 */
export function showProgress(cli: Cli, label: string, unit: 'bytes' | 'rows' = 'bytes'): Progress {
  if (!cli.isTerminal || cli.json) return { update: () => {}, [Symbol.dispose]: () => {} };
  const amount = (count: number): string => (unit === 'bytes' ? formatBytes(count) : `${count} rows`);
  const bar = new cliProgress.SingleBar({
    stream: cli.stderr as NodeJS.WritableStream,
    clearOnComplete: true,
    // A killed process could not show the cursor again.
    hideCursor: false,
    linewrap: true,
    format: (_options, { progress, value, total }) => {
      if (total <= 0) return `${label} ${amount(value)}`;
      const drawn = '#'.repeat(Math.round(progress * BAR_WIDTH)).padEnd(BAR_WIDTH, '.');
      return `${label} [${drawn}] ${Math.floor(progress * 100)}% of ${amount(total)}`;
    },
  });
  bar.start(0, 0);
  return {
    update(done, total) {
      bar.setTotal(total ?? 0);
      bar.update(total === null ? done : Math.min(done, total));
    },
    [Symbol.dispose]: () => bar.stop(),
  };
}
