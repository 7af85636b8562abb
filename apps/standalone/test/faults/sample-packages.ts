import { buildZip } from '../../../../packages/pkg-format/test/build-zip.ts';

/** A package of one section whose items hold this many bytes of text each; `seed` makes them differ. */
export function samplePackage(items: number, bytesPerItem = 20, seed = 0): Uint8Array<ArrayBuffer> {
  let state = seed + 1;
  const next = (): string => {
    // numbers of a linear congruential generator: text that does not compress to nothing
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state.toString(36);
  };
  const lines = Array.from({ length: items }, (_, index) => {
    let text = '';
    while (text.length < bytesPerItem) text += `${next()} `;
    return `{"id":"${seed}-${index}","inputs":{"prompt":"${text}"},"type":"freeform"}`;
  });
  return buildZip({
    entries: [{ name: 'sections/default.jsonl', content: `${lines.join('\n')}\n` }],
  }) as Uint8Array<ArrayBuffer>;
}

/** A package of `count` items with an answer; `number` makes packages differ. */
export function numberedPackage(items: number, number: number): Uint8Array<ArrayBuffer> {
  const lines = Array.from({ length: items }, (_, id) => {
    const prompt = `question ${number} ${id} ${'x'.repeat(200)}`;
    return JSON.stringify({ answer: prompt, id, inputs: { prompt }, type: 'exact' });
  });
  const content = `${lines.join('\n')}\n`;
  return buildZip({ entries: [{ name: 'sections/default.jsonl', content }] }) as Uint8Array<ArrayBuffer>;
}

/** A deflated package of one section with these items, and files next to it. */
export function packageOf(
  items: readonly object[],
  files: Readonly<Record<string, Uint8Array>> = {},
): Uint8Array<ArrayBuffer> {
  const content = items.map((item) => `${JSON.stringify(item)}\n`).join('');
  const entries = Object.entries({ 'sections/default.jsonl': content, ...files });
  return buildZip({
    entries: entries.map(([name, content]) => ({ name, content, method: 'deflated' as const })),
  }) as Uint8Array<ArrayBuffer>;
}

/** The form that uploads an archive. */
export function uploadForm(archive: Uint8Array<ArrayBuffer>, name: string): FormData {
  const form = new FormData();
  form.append('name', name);
  form.append('file', new Blob([archive]), 'sample.pkg.zip');
  return form;
}
