import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { printableData } from '../text/printable-text.ts';
import { writeText } from './write-text.ts';

/**
 * A function that writes data of a service to standard output: byte for byte, but on a terminal as text whose control
 * characters are escaped.
 */
export function dataWriter({
  stdout,
  isOutputTerminal,
}: Pick<Cli, 'stdout' | 'isOutputTerminal'>): (chunk: Uint8Array) => Promise<void> {
  if (!isOutputTerminal) return (chunk) => writeText(stdout, chunk);
  const decoder = new TextDecoder();
  return (chunk) => writeText(stdout, printableData(decoder.decode(chunk, { stream: true })));
}

/** A terminal cannot show an archive or a Parquet file. @throws CliError `usage` */
export function refuseTerminal({ isOutputTerminal }: Pick<Cli, 'isOutputTerminal'>): void {
  if (!isOutputTerminal) return;
  throw new CliError('usage', 'Standard output is a terminal; redirect it, or name a file with --output');
}
