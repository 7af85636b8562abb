import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPackage, type PackageResult, type PackageRun, readPackageItems } from '@svc/pkg-format';
import { openFileSource } from '@svc/pkg-format/node';
import { expect, onTestFinished } from 'vitest';
import { type ConvertToolOptions, convertTool, type Tool, type ToolReport } from '../src/index.ts';
import { recogniseTool } from '../src/recognise-tool.ts';

/** A file of a tool with bytes in memory. */
function toolFile(name: string, content: string | Uint8Array): Parameters<typeof convertTool>[1][number] {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return {
    name,
    source: { byteLength: bytes.byteLength, read: async (start, end) => bytes.subarray(start, end) },
  };
}

/** Lines of JSON. */
export const lines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

export interface Converted {
  /** Reports of all packages. */
  readonly reports: readonly ToolReport[];
  /** Of the first. */
  readonly report: ToolReport;
  readonly items: Record<string, unknown>[];
  readonly results: PackageResult[];
  /** `count x what`. */
  readonly lost: string[];
  readonly run: PackageRun | null;
  /** What each package has. */
  readonly packages?: readonly Converted[];
}

/** Converts files of the tool that wrote them, and reads the package. Files of a list may have the same names. */
export async function convert(
  files:
    | Readonly<Record<string, string | Uint8Array>>
    | readonly (readonly [name: string, content: string | Uint8Array])[],
  { tool: stated, ...options }: Partial<ConvertToolOptions> & { readonly tool?: Tool } = {},
): Promise<Converted> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-formats-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const list: readonly (readonly [string, string | Uint8Array])[] = Array.isArray(files)
    ? files
    : Object.entries(files);
  const given = list.map(([name, content]) => toolFile(name, content));
  const tool = stated ?? (await recogniseTool(given));
  if (tool === null) throw new Error('The files are those of no tool.');
  const output = join(folder, 'out.pkg.zip');
  const further = (prompt: number): string => join(folder, `out-${prompt}.pkg.zip`);
  const converting = convertTool(tool, given, { output, further, ...options });
  const reports = await converting.catch(async (error: unknown) => {
    // Nothing of it is left.
    expect(await readdir(folder)).toEqual([]);
    throw error;
  });
  const packages: Converted[] = [];
  for (const report of reports) packages.push({ ...(await readPackageFile(report)), reports });
  return { ...(packages[0] as Converted), packages };
}

async function readPackageFile(report: ToolReport): Promise<Omit<Converted, 'reports'>> {
  const source = await openFileSource(report.output);
  onTestFinished(() => source.close());
  const pkg = await openPackage(source);
  const items: Record<string, unknown>[] = [];
  for (const section of pkg.sections) {
    for await (const { item } of readPackageItems(pkg, section)) items.push(item as Record<string, unknown>);
  }
  const results: PackageResult[] = [];
  const run = await pkg.readRun();
  if (run !== null) for await (const batch of run.results(report.sections)) results.push(...batch);
  return { report, items, results, run, lost: report.lost.map(({ what, count }) => `${count} x ${what}`) };
}
