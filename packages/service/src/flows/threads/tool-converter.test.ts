import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPackageFile } from '@svc/pkg-format/node';
import { expect, it, onTestFinished } from 'vitest';
import { type ConvertTask, createToolConverter, type ToolConverter } from './tool-converter.ts';

const hasRoom = (): Promise<void> => Promise.resolve();
const { signal } = new AbortController();

function makeConverter(): ToolConverter {
  const converter = createToolConverter();
  onTestFinished(() => converter[Symbol.asyncDispose]());
  return converter;
}

/** Tests of promptfoo, with so many bytes. */
async function taskOf(bytes: number, end = ''): Promise<ConvertTask> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-convert-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const line = `${JSON.stringify({ vars: { question: 'q'.repeat(1_000) } })}\n`;
  const content = new TextEncoder().encode(line.repeat(Math.ceil(bytes / line.length)) + end);
  const files = [{ fileName: 'tests.jsonl', path: null, content, bytes: content.byteLength, sha256: '' }];
  return { tool: 'promptfoo', files, name: 'n', limits: {}, folder };
}

it.each([1, 300_000])('converts %d bytes into the folder', async (bytes) => {
  const rooms: number[] = [];
  const task = await taskOf(bytes);
  const made = await makeConverter().convert(
    task,
    async (room) => {
      rooms.push(room);
    },
    signal,
  );
  expect(made).toEqual([join(task.folder, '0.pkg.zip')]);
  await using pkg = await openPackageFile(made[0] ?? '');
  expect(pkg.manifest).toMatchObject({ name: 'n' });
  expect(rooms.length).toBeGreaterThan(0);
});

it('passes on what is wrong, where the room ends, and what aborts it', async () => {
  const converter = makeConverter();
  const broken = await taskOf(300_000, '{"vars":\n');
  const { length } = new TextDecoder().decode(broken.files[0]?.content ?? undefined).split('\n');
  await expect(converter.convert(broken, hasRoom, signal)).rejects.toMatchObject({
    ...{ name: 'PackageError', code: 'package_invalid_line', entry: 'tests.jsonl' },
    location: { file: 'tests.jsonl', line: length - 1 },
  });
  const noRoom = new Error('no room');
  const refused = converter.convert(await taskOf(300_000), () => Promise.reject(noRoom), signal);
  await expect(refused).rejects.toBe(noRoom);
  const stopped = new AbortController();
  const stopping = converter.convert(await taskOf(2_000_000), hasRoom, stopped.signal);
  stopped.abort('stopped');
  await expect(stopping).rejects.toBe('stopped');
});
