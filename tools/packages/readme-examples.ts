import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One program of a README, and what it prints as the README says. */
export interface ReadmeExample {
  /** Such as `pkg-format-2`. */
  readonly name: string;
  readonly code: string;
  readonly output: string;
  /** The oldest Node that runs it; default: every one that the packages support. */
  readonly oldestNode?: string;
}

/** Whether a program calls a service. The tests of the service run these. */
export function needsService({ code }: Pick<ReadmeExample, 'code'>): boolean {
  return code.includes("from '@svc/client'");
}

/** The programs of a package's README: blocks marked `js` or `ts`, each followed by "Output:" (or "prints") and a plain block. */
export function readmeExamples(folder: string): ReadmeExample[] {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const short = folder.slice(folder.lastIndexOf('/') + 1);
  const blocks = [...readme.matchAll(/^```(?:js|ts)\n([\s\S]*?)^```$/gm)];
  const examples = [
    ...readme.matchAll(/^```(?:js|ts)\n([\s\S]*?)^```\n\n(?:prints|Output:)\n\n^```\n([\s\S]*?)^```$/gm),
  ];
  if (examples.length !== blocks.length) {
    throw new Error(`${folder}/README.md: ${blocks.length} programs, ${examples.length} with their output`);
  }
  return examples.map(([, code = '', output = ''], index) => ({
    name: `${short}-${index + 1}`,
    code,
    output,
  }));
}
