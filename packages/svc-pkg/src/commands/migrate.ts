import { jsonText } from '@svc/jsonl-v23/internal';
import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import type { DatabasePort } from '../database/database-port.ts';
import { databaseUrl } from '../database/database-url.ts';
import { printReport } from '../output/print-result.ts';
import { formatFacts } from '../text/format-facts.ts';
import { withExamples } from './define-command.ts';

/** `migrate`: migrates a database to this version. */
export function addMigrateCommand(program: Command, cli: Cli, database: DatabasePort): void {
  const command = program
    .command('migrate')
    .summary('migrate a database to this version')
    .description(
      'Applies the missing migrations. Several processes can run it concurrently, and you can stop it at any time.',
    )
    .option('--database-url <url>', 'postgresql:// URL (default: the environment variable DATABASE_URL)')
    .action(async (options: { databaseUrl?: string }) => {
      const { applied } = await database.migrate(databaseUrl(cli, options.databaseUrl));
      await printReport(cli, { text: () => migrationText(applied), json: () => jsonText({ applied }) });
    });
  withExamples(command, [
    'DATABASE_URL=postgresql://svc@db.example.org/svc svc-pkg migrate',
    'svc-pkg migrate --database-url postgresql://localhost/svc',
  ]);
}

function migrationText(applied: readonly string[]): string {
  if (applied.length === 0) return 'The database is up to date.\n';
  return formatFacts(applied.map((name) => ['applied', name]));
}
