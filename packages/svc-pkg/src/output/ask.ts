import type { Readable } from 'node:stream';
import { abortable } from '@svc/jsonl-v23/streams';
import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { printableText } from '../text/format.ts';
import { writeText } from './print.ts';

const MAX_LENGTH = 4096;

/** A terminal, which can stop showing what is typed. */
type Terminal = Readable & { setRawMode?(isRaw: boolean): unknown };

/** Asks on the terminal and returns the line that is typed. @throws the signal's reason */
export async function ask(cli: Cli, question: string): Promise<string> {
  await writeText(cli.stderr, printableText(question));
  return (await readLine(cli.stdin, cli.signal)).replace(/\r$/, '');
}

/** Asks without showing what is typed; without a terminal, reads the first line of standard input. */
export async function askSecret(cli: Cli, question: string): Promise<string> {
  const terminal: Terminal = cli.stdin;
  if (!cli.isInteractive || terminal.setRawMode === undefined) {
    return (await readLine(cli.stdin, cli.signal)).replace(/\r$/, '');
  }
  // The echo ends before the question appears: a reply may follow it immediately.
  terminal.setRawMode(true);
  try {
    await writeText(cli.stderr, printableText(question));
    return await readHidden(terminal, cli.signal);
  } finally {
    terminal.setRawMode(false);
    await writeText(cli.stderr, '\n');
  }
}

async function readLine(stream: Readable, signal: AbortSignal): Promise<string> {
  let text = '';
  for await (const chunk of chunksOf(stream, signal)) {
    text += chunk;
    if (text.includes('\n') || text.length > MAX_LENGTH) break;
  }
  return text.slice(0, MAX_LENGTH).split('\n')[0] ?? '';
}

async function readHidden(stream: Readable, signal: AbortSignal): Promise<string> {
  let text = '';
  for await (const chunk of chunksOf(stream, signal)) {
    for (const character of chunk) {
      // A raw terminal does not turn Ctrl-C into a signal.
      if (character === '\u0003') throw new CliError('interrupted', 'Interrupted');
      if (character === '\r' || character === '\n' || character === '\u0004') return text;
      if (character === '\u007f' || character === '\b') text = text.slice(0, -1);
      else if (text.length < MAX_LENGTH) text += character;
    }
  }
  return text;
}

/** The texts that arrive; stops at the signal and leaves the stream open. */
async function* chunksOf(stream: Readable, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  try {
    const chunks = stream.iterator({ destroyOnReturn: false });
    for await (const chunk of abortable(chunks, signal)) yield String(chunk);
  } finally {
    stream.pause();
  }
}
