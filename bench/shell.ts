import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a shell pipeline to its end; a failure of any of its parts is an error. */
export function shell(script: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`exit code ${code} of: ${script}`)),
    );
  });
}

/** Runs a shell pipeline to its end, and gives what it prints. */
export async function shellOutput(
  script: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    env: { ...process.env, ...env },
  });
  return stdout;
}

/** Whether every one of these programs is there. */
export async function hasPrograms(names: readonly string[]): Promise<boolean> {
  try {
    await shell(`command -v ${names.join(' ')}; for name in ${names.join(' ')}; do command -v $name; done`);
    return true;
  } catch {
    return false;
  }
}
