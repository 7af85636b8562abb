import { jsonText } from '@svc/jsonl-v23/internal';
import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { printReport } from '../../output/print.ts';
import { readCredentials, serviceUrl, writeCredentials } from '../../service/open-service.ts';
import { formatFacts } from '../../text/format.ts';
import { apiUrlOption, withExamples } from '../define-command.ts';

/** `logout`: forgets the key of a service. */
export function addLogoutCommand(program: Command, cli: Cli): void {
  const command = program
    .command('logout')
    .summary('delete the stored key of a service')
    .description(
      'Deletes the key that login stored. The key itself stays valid: its service knows nothing of this.',
    )
    .addOption(apiUrlOption())
    .action(async (options: { apiUrl?: string }) => {
      const url = serviceUrl(cli, options);
      const { default_url, keys } = readCredentials(cli);
      const { [url]: key, ...others } = keys;
      await writeCredentials(cli, {
        ...(default_url !== undefined && default_url !== url && { default_url }),
        keys: others,
      });
      const hadKey = key !== undefined;
      await printReport(cli, {
        text: () =>
          formatFacts([
            ['service', url],
            ['key', hadKey ? 'deleted' : 'none was stored'],
          ]),
        json: () => jsonText({ url, deleted: hadKey }),
      });
    });
  withExamples(command, ['svc-pkg logout', 'svc-pkg logout --api-url https://datasets.example.org']);
}
