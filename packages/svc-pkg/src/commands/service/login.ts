import { jsonText } from '@svc/jsonl-v23/internal';
import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { ServiceError } from '../../errors/cli-error.ts';
import { askSecret } from '../../output/ask.ts';
import { printHint, printReport } from '../../output/print.ts';
import {
  checkSecret,
  openServiceWithKey,
  readCredentials,
  serviceUrl,
  writeCredentials,
} from '../../service/open-service.ts';
import { readSession } from '../../service/session.ts';
import { formatFacts } from '../../text/format.ts';
import { apiUrlOption, withExamples } from '../define-command.ts';

/** `login`: stores the key of a service for later commands. */
export function addLoginCommand(program: Command, cli: Cli): void {
  const command = program
    .command('login')
    .summary('store the key of a service')
    .description(
      'Reads a key from a hidden prompt or from standard input, checks it with the service and stores it in a file that ' +
        'only you can read. Later commands use that service and key unless options or variables name others. A service ' +
        'without keys is stored without one.',
    )
    .addOption(apiUrlOption())
    .action(async (options: { apiUrl?: string }) => {
      const url = serviceUrl(cli, options);
      const { keys } = readCredentials(cli);
      const found = (await isOpen(cli, url)) ? null : await askKey(cli, url);
      const known = found === null ? keys : { ...keys, [url]: found.key };
      const path = await writeCredentials(cli, { default_url: url, keys: known });
      const role = found?.role ?? null;
      await printReport(cli, {
        text: () =>
          formatFacts([
            ['service', url],
            ['role', role],
            found === null ? ['key', 'none: the service asks for no keys'] : ['key stored in', path],
          ]),
        json: () => jsonText({ url, path, role }),
      });
      if (found !== null) await printHint(cli, 'Next: svc-pkg list');
    });
  withExamples(command, [
    'svc-pkg login --api-url https://datasets.example.org',
    'pass show datasets | svc-pkg login --api-url https://datasets.example.org',
  ]);
}

/** Asks for a key, and the service for its role. */
async function askKey(cli: Cli, url: string): Promise<{ readonly key: string; readonly role: string }> {
  const key = checkSecret(await askSecret(cli, `Key of ${url}: `), 'The key');
  const { role } = await readSession(openServiceWithKey(cli, url, key));
  return { key, role };
}

/** Whether the service asks for no keys. */
async function isOpen(cli: Cli, url: string): Promise<boolean> {
  try {
    return (await readSession(openServiceWithKey(cli, url, undefined))).anonymous;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'unauthenticated') return false;
    throw error;
  }
}
