import { createHubClient } from '@svc/hub-client';
import { createSectionHasher, itemHash, versionHash } from '@svc/jsonl-v23';
import { datasetFromItems, openPackage, readPackageItems, writePackage } from '@svc/pkg-format';
import { readTable } from '@svc/tabular';

/** What the page gives to the test. */
interface Outcome {
  /** The package, in base64. */
  readonly archive: string;
  readonly versionHash: string;
}

declare global {
  interface Window {
    outcome: Promise<Outcome>;
  }
}

window.outcome = show();

async function show(): Promise<Outcome> {
  const picture = { mime_type: 'image/png', encoding: 'base64', data: drawPicture() };
  const items = [{ id: 1, inputs: { prompt: 'What is it?' }, assets: { picture } }];
  const sections = [
    { name: 'pictures', items },
    { name: 'sums', items: [{ inputs: { prompt: '2+2?' }, answer: 4 }, { answer: '\u00fc' }] },
  ];
  const archive = await writePackage(datasetFromItems({ name: 'From a page', sections }));

  await using pkg = await openPackage(archive);
  const hashes: Uint8Array[] = [];
  for (const section of pkg.sections) {
    element('sections').append(textElement('li', section.name));
    const hasher = createSectionHasher(section.name);
    for await (const { item } of readPackageItems(pkg, section)) {
      hasher.add(itemHash(item));
      await showPictures(item['assets']);
    }
    hashes.push(hasher.digest());
  }
  const hash = versionHash(hashes);
  element('hash').append(hash);
  await showRows();
  await showTable();
  return { archive: toBase64(archive), versionHash: hash };
}

/** A picture of two colours, as base64 of a PNG file. */
function drawPicture(): string {
  const canvas = document.createElement('canvas');
  canvas.width = 8;
  canvas.height = 4;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('The browser has no 2d context.');
  for (const [index, colour] of ['red', 'blue'].entries()) {
    context.fillStyle = colour;
    context.fillRect(index * 4, 0, 4, 4);
  }
  return canvas.toDataURL('image/png').replace(/^.*,/, '');
}

async function showPictures(assets: unknown): Promise<void> {
  for (const { mime_type, data } of Object.values(assets ?? {})) {
    const image = document.createElement('img');
    image.src = `data:${mime_type};base64,${data}`;
    await image.decode();
    element('pictures').append(image);
  }
}

async function showRows(): Promise<void> {
  const hub = createHubClient({ endpoint: location.origin });
  const dataset = await hub.openDataset({ path: 'openai/gsm8k' });
  const selection = await dataset.select({ split: 'train[:2]' });
  for await (const { row } of selection.rows()) {
    element('rows').append(textElement('li', `${row['question']} ${row['answer']}`));
  }
  await hub.close();
}

/** Reads the columns of a file by ranges. */
async function showTable(): Promise<void> {
  for await (const row of readTable(new URL('/items.parquet', location.href), { columns: ['prompt'] })) {
    element('table').append(textElement('li', String(row['prompt'])));
  }
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element #${id}.`);
  return found;
}

function textElement(tag: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.append(text);
  return made;
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
