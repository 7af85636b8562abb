import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

// Brought by npx: nothing else needs it, and an installation should not wait for it.
const LIGHTHOUSE = 'lighthouse@13.5.0';

/** Scores of a page, from 0 to 100, on a desktop. */
export interface LighthouseScores {
  readonly performance: number;
  readonly accessibility: number;
}

/** Lets Lighthouse look at a page, on a desktop. */
export async function lighthouseScores(
  url: string,
  chromePath: string,
  folder: string,
): Promise<LighthouseScores> {
  const output = join(folder, 'lighthouse.json');
  await promisify(execFile)(
    'npx',
    [
      ...[
        '--yes',
        LIGHTHOUSE,
        url,
        '--quiet',
        '--preset=desktop',
        '--output=json',
        `--output-path=${output}`,
      ],
      '--only-categories=performance,accessibility',
      '--chrome-flags=--headless=new --no-sandbox --disable-gpu --no-zygote',
    ],
    { env: { ...process.env, CHROME_PATH: chromePath } },
  );
  const { categories } = JSON.parse(await readFile(output, 'utf8')) as {
    readonly categories: Readonly<Record<string, { readonly score: number }>>;
  };
  const scoreOf = (name: string): number => Math.round(100 * (categories[name]?.score ?? 0));
  return { performance: scoreOf('performance'), accessibility: scoreOf('accessibility') };
}
