import type { Item } from '@svc/jsonl-v23';
import { assetEntries, type LocatedAsset, mimeTypeForPath } from '@svc/jsonl-v23/assets';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import type { WireFormat } from '../provider.ts';

/**
 * The assets of an item as parts of a message, in their order. An embedded file is sent; of any other, its URL, where the
 * API takes one, and only the provider fetches it. Names of the assets that the API has no part for are `omitted`; an entry
 * of a list is named by its index.
 *
 * - chat completions: images; WAV and MP3 audio, and PDF documents, if they are embedded
 * - Anthropic messages: images of the types that it takes, and PDF documents
 */
export function assetParts(item: Item, format: WireFormat) {
  const parts: JsonObject[] = [];
  const omitted: string[] = [];
  for (const asset of assetEntries(item)) {
    const content = contentOf(asset);
    const part =
      content === null ? null : (format === 'chat_completions' ? chatPart : anthropicPart)(content);
    if (part === null) omitted.push(String(asset.name));
    else parts.push(part);
  }
  return { parts, omitted };
}

interface Content {
  readonly mimeType: string;
  /** Base64; null for a URL. */
  readonly data: string | null;
  readonly url: string;
  readonly fileName: string;
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
  'audio/vnd.wave': 'wav',
  'audio/wav': 'wav',
  'audio/wave': 'wav',
  'audio/x-wav': 'wav',
};
const PDF = 'application/pdf';
const ANTHROPIC_IMAGES: ReadonlySet<string> = new Set(['image/gif', 'image/jpeg', 'image/png', 'image/webp']);

function chatPart({ mimeType, data, url, fileName }: Content): JsonObject | null {
  if (mimeType.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  if (data === null) return null;
  const format = Object.hasOwn(AUDIO_FORMATS, mimeType) ? AUDIO_FORMATS[mimeType] : undefined;
  if (format !== undefined) return { type: 'input_audio', input_audio: { data, format } };
  return mimeType === PDF ? { type: 'file', file: { file_data: url, filename: fileName } } : null;
}

function anthropicPart({ mimeType, data, url }: Content): JsonObject | null {
  const isImage = data === null ? mimeType.startsWith('image/') : ANTHROPIC_IMAGES.has(mimeType);
  if (!isImage && mimeType !== PDF) return null;
  const source = data === null ? { type: 'url', url } : { type: 'base64', media_type: mimeType, data };
  return { type: isImage ? 'image' : 'document', source };
}

function contentOf({ name, entry }: LocatedAsset): Content | null {
  const stated = getMember(entry, 'url');
  const data = getMember(entry, 'data');
  const mimeType = mimeTypeOf(entry, typeof stated === 'string' ? stated : '');
  const fileName = fileNameOf(entry, String(name));
  if (typeof data === 'string') return { mimeType, data, url: `data:${mimeType};base64,${data}`, fileName };
  if (typeof stated !== 'string' || !/^https?:\/\//i.test(stated)) return null;
  return { mimeType, data: null, url: stated, fileName };
}

function mimeTypeOf(entry: JsonObject, url: string): string {
  const stated = getMember(entry, 'mime_type');
  if (typeof stated === 'string') return stated.trim().toLowerCase();
  const path = getMember(entry, 'path');
  if (typeof path === 'string') return mimeTypeForPath(path);
  return mimeTypeForPath(url.split(/[?#]/, 1)[0] ?? '');
}

function fileNameOf(entry: JsonObject, name: string): string {
  const path = getMember(entry, 'path');
  return (typeof path === 'string' ? path.slice(path.lastIndexOf('/') + 1) : '') || `${name}.pdf`;
}
