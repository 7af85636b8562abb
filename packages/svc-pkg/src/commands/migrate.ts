import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import type { DatabasePort, FilesProgress } from '../database/database-port.ts';
import { databaseUrl } from '../database/database-url.ts';
import { jsonText, printResult } from '../output/print-result.ts';
import { showProgress } from '../output/progress.ts';
import { writeText } from '../output/write-text.ts';
import { formatFacts } from '../text/format-facts.ts';
import { withExamples } from './define-command.ts';

/** `migrate`: migrates a database to this version. */
export function addMigrateCommand(program: Command, cli: Cli, database: DatabasePort): void {
  const command = program
    .command('migrate')
    .summary('migrate a database to this version')
    .description(
      'Applies the missing migrations, and moves the files that items of older versions embed to assets. You can ' +
        'start it many times at once, and stop it at any time.',
    )
    .option('--database-url <url>', 'postgresql:// URL (default: the environment variable DATABASE_URL)')
    .action(async (options: { databaseUrl?: string }) => {
      const url = databaseUrl(cli, options.databaseUrl);
      const { applied } = await database.migrate(url);
      const files = await moveFiles(cli, database, url);
      await printResult(cli, {
        text: () => migrationText(applied, files),
        json: () =>
          jsonText({ applied, moved_items: files.moved, items_to_move: files.itemsTotal - files.items }),
      });
    });
  withExamples(command, [
    'DATABASE_URL=postgresql://svc@db.example.org/svc svc-pkg migrate',
    'svc-pkg migrate --database-url postgresql://localhost/svc',
  ]);
}

/** Between two lines about the progress, where there is no bar. */
const LINE_INTERVAL_MS = 10_000;

async function moveFiles(cli: Cli, database: DatabasePort, url: string): Promise<FilesProgress> {
  using bar = showProgress(cli, 'moving files', 'items');
  let last: FilesProgress = { items: 0, itemsTotal: 0, moved: 0, isWaiting: false };
  let shownAt = performance.now();
  for await (const progress of database.moveFiles(url, cli.signal)) {
    last = progress;
    bar.update(progress.items, progress.itemsTotal);
    if (cli.isTerminal || cli.json || cli.quiet || performance.now() - shownAt < LINE_INTERVAL_MS) continue;
    shownAt = performance.now();
    await writeText(cli.stderr, `moving files: ${progress.items} of ${progress.itemsTotal} items\n`);
  }
  return last;
}

function migrationText(applied: readonly string[], { moved, itemsTotal, isWaiting }: FilesProgress): string {
  const facts: (readonly [string, string | number])[] = applied.map((name) => ['applied', name] as const);
  if (moved > 0) facts.push(['moved', `the files of ${moved} items to assets`]);
  if (isWaiting) {
    const reason = 'processes of an older version are connected';
    facts.push(['waiting', `${itemsTotal} items: ${reason}. Run the command again when they have ended.`]);
  }
  return facts.length === 0 ? 'The database is up to date.\n' : formatFacts(facts);
}
