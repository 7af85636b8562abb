import { spawn } from 'node:child_process';

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

/** Whether every one of these programs is there. */
export async function hasPrograms(names: readonly string[]): Promise<boolean> {
  try {
    await shell(`command -v ${names.join(' ')}; for name in ${names.join(' ')}; do command -v $name; done`);
    return true;
  } catch {
    return false;
  }
}
