import { Argument, type Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { bashCompletion } from '../completion/bash.ts';
import { describeCommands } from '../completion/described-command.ts';
import { fishCompletion } from '../completion/fish.ts';
import { zshCompletion } from '../completion/zsh.ts';
import { printResult } from '../output/print.ts';
import { withExamples } from './define-command.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** `completion`: a script that lets a shell complete commands and options. */
export function addCompletionCommand(program: Command, cli: Cli): void {
  const command = program
    .command('completion')
    .summary('print a completion script for a shell')
    .description('Prints a script that lets bash, zsh or fish complete commands and options.')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(Object.keys(SHELLS)))
    .action(async (shell: keyof typeof SHELLS) => {
      const script = SHELLS[shell](describeCommands(program));
      await printResult(cli, { text: () => script, json: () => JSON.stringify({ shell, script }) });
    });
  withExamples(command, [
    'svc-pkg completion bash > ~/.local/share/bash-completion/completions/svc-pkg',
    'svc-pkg completion zsh > ~/.zfunc/_svc-pkg',
    'svc-pkg completion fish > ~/.config/fish/completions/svc-pkg.fish',
  ]);
}
