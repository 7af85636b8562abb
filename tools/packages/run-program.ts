import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';

export interface ProgramOptions {
  readonly cwd?: string;
  /** The environment of the program, in addition to PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProgramOutput {
  readonly stdout: Buffer;
  readonly text: string;
}

/** The environment of a program: enough to find other programs and its configuration, and no secrets. */
export function cleanEnvironment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = [
    'PATH',
    'HOME',
    'TMPDIR',
    'npm_config_registry',
    'NPM_CONFIG_REGISTRY',
    'NODE_EXTRA_CA_CERTS',
  ];
  const base = kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...Object.fromEntries(base), ...env };
}

/** Runs a program to its end; if it fails, rejects with everything that it printed. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env }: ProgramOptions = {},
): Promise<ProgramOutput> {
  const child = spawn(program, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: cleanEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    buffer(child.stdout),
    text(child.stderr),
  ]);
  const shown = stdout.toString('utf8');
  if (code !== 0) {
    throw new Error(`${program} ${args.join(' ')} ended with ${code ?? signal}:\n${shown}${stderr}`);
  }
  return { stdout, text: shown };
}
