import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { svcPkg } from './run-svc-pkg.ts';
import { temporaryFolder } from './temporary-folder.ts';

function hasProgram(name: string): boolean {
  try {
    execFileSync('which', [name], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function script(shell: string): Promise<string> {
  const { exitCode, stdout } = await svcPkg(['completion', shell]);
  expect(exitCode).toBe(0);
  return stdout;
}

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('names every command for %s', async (shell) => {
    const text = await script(shell);
    for (const name of ['convert', 'upload', 'delete', 'compare', 'login']) expect(text).toContain(name);
    expect(text).toContain('no-background');
  });

  it.skipIf(!hasProgram('bash'))('completes in bash', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'completion.bash'), await script('bash'));
    const complete = (words: string): string =>
      execFileSync('bash', [
        '-c',
        `source ${join(folder, 'completion.bash')}; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); ` +
          '_svc_pkg; echo "$COMPREPLY"',
      ])
        .toString()
        .trim();
    expect(complete('svc-pkg conv')).toBe('convert');
    expect(complete('svc-pkg upload --na')).toBe('--name');
    expect(complete('svc-pkg --json results --form')).toBe('--format');
    expect(complete('svc-pkg results --format c')).toBe('csv');
    expect(complete('svc-pkg completion f')).toBe('fish');
    expect(complete('svc-pkg help conv')).toBe('convert');
    expect(complete('svc-pkg convert --hel')).toBe('--help');
    // bash 3.2, which macOS has
    expect(await script('bash')).not.toContain('mapfile');
  });

  it.skipIf(!hasProgram('bash'))('has no error that bash finds', async () => {
    execFileSync('bash', ['-n'], { input: await script('bash'), stdio: ['pipe', 'ignore', 'pipe'] });
  });

  it.skipIf(!hasProgram('zsh'))('loads in zsh', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'functions'));
    await writeFile(join(folder, 'functions/_svc-pkg'), await script('zsh'));
    const program = `fpath=(${join(folder, 'functions')} $fpath); autoload -U compinit; compinit -u -D; print $_comps[svc-pkg]`;
    expect(execFileSync('zsh', ['-f', '-c', program]).toString().trim()).toBe('_svc-pkg');
  });

  it.skipIf(!hasProgram('fish'))('completes in fish', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'svc-pkg.fish');
    await writeFile(file, await script('fish'));
    const program = `source ${file}; complete -C "svc-pkg conv"`;
    expect(execFileSync('fish', ['--no-config', '-c', program]).toString()).toMatch(/^convert\t/);
  });

  it('refuses other shells', async () => {
    expect(await svcPkg(['completion', 'tcsh'])).toMatchObject({ exitCode: 2 });
  });
});
