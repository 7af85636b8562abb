import { Writable } from 'node:stream';
import type { Cli } from '../cli-context.ts';
import { writeText } from './write-text.ts';

/**
 * Does the work of a command for each of its files, in order, and ends at the first that fails. With `--json`, several files
 * give one list of documents, of those that were done before an error.
 */
export async function eachPath(
  cli: Cli,
  paths: readonly string[],
  work: (cli: Cli, path: string) => Promise<void>,
): Promise<void> {
  if (paths.length === 1 || !cli.json) {
    for (const path of paths) await work(cli, path);
    return;
  }
  const documents: string[] = [];
  for (const path of paths) {
    const chunks: Buffer[] = [];
    const stdout = new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk);
        done();
      },
    });
    try {
      await work({ ...cli, stdout }, path);
    } catch (error) {
      if (documents.length > 0) await printList(cli, documents);
      throw error;
    }
    documents.push(Buffer.concat(chunks).toString().trimEnd());
  }
  await printList(cli, documents);
}

const printList = ({ stdout }: Cli, documents: readonly string[]): Promise<void> =>
  writeText(stdout, `[${documents.join(',')}]\n`);
