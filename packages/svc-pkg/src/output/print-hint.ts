import type { Cli } from '../cli-context.ts';
import { printableText } from '../text/printable-text.ts';
import { writeText } from './write-text.ts';

/** Names the next command on a terminal; prints nothing in a pipe, with `--json` or with `--quiet`. */
export async function printHint(cli: Cli, hint: string): Promise<void> {
  if (!cli.isTerminal || cli.json || cli.quiet) return;
  await writeText(cli.stderr, `${printableText(hint)}\n`).catch(() => undefined);
}
