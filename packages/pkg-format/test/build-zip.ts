import { crc32, deflateRawSync } from 'node:zlib';

/** One entry for `buildZip`; what is not said is what an honest tool would write. */
export interface ZipEntrySpec {
  name: string | Uint8Array;
  content?: string | Uint8Array;
  method?: 'stored' | 'deflated';
  /** Written as they are, whatever `content` is. */
  packed?: Uint8Array;
  methodId?: number;
  crc32?: number;
  size?: number;
  compressedSize?: number;
  flags?: number;
  /** A data descriptor after the data: its layout, or the very bytes. The local header then states zeros. */
  descriptor?: 'plain' | 'signed' | 'zip64' | 'zip64-signed' | Uint8Array;
  /** With a descriptor, the local header states sizes and CRC all the same. */
  descriptorAndSizes?: boolean;
  /** Sizes and offset as zip64 extra fields. */
  zip64?: boolean;
  /** Zip64 sizes in the local header only. */
  localZip64?: boolean;
  extra?: Uint8Array;
  centralExtra?: Uint8Array;
  comment?: string;
  /** Unix mode in the external attributes; the maker is then Unix. */
  mode?: number;
  dosAttributes?: number;
  /** What the local header says otherwise. */
  local?: Partial<
    Pick<ZipEntrySpec, 'name' | 'methodId' | 'crc32' | 'size' | 'compressedSize' | 'flags' | 'extra'>
  > & { signature?: number };
  /** Bytes between this entry and the next. */
  gap?: Uint8Array;
  /** Where the directory says the entry begins, relative to where it does. */
  offsetShift?: number;
  /** In the file, but not in the directory. */
  unlisted?: boolean;
  /** The directory lists the entry at another one's offset, and nothing of it is in the file. */
  sharesDataWith?: number;
  disk?: number;
}

export interface ZipSpec {
  entries: ZipEntrySpec[];
  prefix?: Uint8Array;
  /** Offsets count from after the prefix, as when bytes were put before a finished archive. */
  prefixIsForeign?: boolean;
  suffix?: Uint8Array;
  comment?: string | Uint8Array;
  commentLength?: number;
  /** Zip64 end record and locator. */
  zip64?: boolean;
  zip64Patch?: { count?: number; size?: number; offset?: number; recordShift?: number; extensible?: number };
  entryCount?: number;
  entryCountHere?: number;
  directorySize?: number;
  directoryOffset?: number;
  directoryOrder?: number[];
  disk?: number;
  truncateTo?: number;
}

const encoder = new TextEncoder();
const asBytes = (value: string | Uint8Array): Uint8Array =>
  typeof value === 'string' ? encoder.encode(value) : value;

/** Little-endian numbers, `[value, byte width]` each, and bytes as they are. */
export function pack(...parts: ([number, 1 | 2 | 4 | 8] | Uint8Array | string)[]): Uint8Array {
  const chunks = parts.map((part) => {
    if (typeof part === 'string') return encoder.encode(part);
    if (part instanceof Uint8Array) return part;
    const [value, width] = part;
    const bytes = new Uint8Array(width);
    let rest = BigInt(value);
    for (let at = 0; at < width; at++, rest >>= 8n) bytes[at] = Number(rest & 0xffn);
    return bytes;
  });
  return Buffer.concat(chunks);
}

/** An extra field. */
export function extraField(id: number, ...data: Parameters<typeof pack>): Uint8Array {
  const body = pack(...data);
  return pack([id, 2], [body.byteLength, 2], body);
}

/** Info-ZIP's Unicode Path field for a raw name. */
export function unicodePathField(rawName: string | Uint8Array, unicodeName: string): Uint8Array {
  return extraField(0x7075, [1, 1], [crc32(asBytes(rawName)), 4], unicodeName);
}

/** Writes an archive byte by byte as told, good or broken. */
export function buildZip(spec: ZipSpec): Uint8Array {
  const prefix = spec.prefix ?? new Uint8Array(0);
  const chunks: Uint8Array[] = [prefix];
  let cursor = prefix.byteLength;
  const base = spec.prefixIsForeign ? prefix.byteLength : 0;
  const offsets: number[] = [];
  const push = (bytes: Uint8Array) => {
    chunks.push(bytes);
    cursor += bytes.byteLength;
  };

  const facts = spec.entries.map((entry) => {
    const content = asBytes(entry.content ?? '');
    const method = entry.method ?? (content.byteLength > 0 ? 'deflated' : 'stored');
    const data = entry.packed ?? (method === 'deflated' ? deflateRawSync(content) : content);
    const name = asBytes(entry.name);
    const isAscii = name.every((byte) => byte < 0x80);
    const flags = entry.flags ?? (entry.descriptor ? 0x8 : 0) | (isAscii ? 0 : 0x800);
    return {
      data,
      name,
      flags,
      methodId: entry.methodId ?? (method === 'deflated' ? 8 : 0),
      crc32: entry.crc32 ?? crc32(content),
      size: entry.size ?? content.byteLength,
      compressedSize: entry.compressedSize ?? data.byteLength,
    };
  });

  spec.entries.forEach((entry, index) => {
    const fact = facts[index]!;
    if (entry.sharesDataWith !== undefined) {
      offsets[index] = offsets[entry.sharesDataWith]!;
      return;
    }
    offsets[index] = cursor - base + (entry.offsetShift ?? 0);
    const hidden = entry.descriptor !== undefined && !entry.descriptorAndSizes;
    const local = { ...(hidden ? { ...fact, crc32: 0, size: 0, compressedSize: 0 } : fact), ...entry.local };
    const wide = entry.zip64 || entry.localZip64;
    const extra = Buffer.concat([
      wide ? extraField(1, [local.size, 8], [local.compressedSize, 8]) : new Uint8Array(0),
      entry.local?.extra ?? entry.extra ?? new Uint8Array(0),
    ]);
    const name = asBytes(local.name);
    push(
      pack(
        [entry.local?.signature ?? 0x04034b50, 4],
        [wide ? 45 : 20, 2],
        [local.flags, 2],
        [local.methodId, 2],
        [0, 2],
        [0x21, 2],
        [local.crc32, 4],
        [wide ? 0xffffffff : local.compressedSize, 4],
        [wide ? 0xffffffff : local.size, 4],
        [name.byteLength, 2],
        [extra.byteLength, 2],
        name,
        extra,
        fact.data,
      ),
    );
    if (entry.descriptor !== undefined) push(descriptorBytes(entry.descriptor, fact));
    if (entry.gap) push(entry.gap);
  });

  const directoryStart = cursor - base;
  const listed = spec.entries.map((_, index) => index).filter((index) => !spec.entries[index]!.unlisted);
  const order = spec.directoryOrder ?? listed;
  for (const index of order) {
    const entry = spec.entries[index]!;
    const fact = facts[index]!;
    const extra = Buffer.concat([
      entry.zip64
        ? extraField(1, [fact.size, 8], [fact.compressedSize, 8], [offsets[index]!, 8])
        : new Uint8Array(0),
      entry.centralExtra ?? entry.extra ?? new Uint8Array(0),
    ]);
    const attributes =
      entry.mode === undefined
        ? (entry.dosAttributes ?? 0)
        : entry.mode * 0x10000 + (entry.dosAttributes ?? 0);
    push(
      pack(
        [0x02014b50, 4],
        [entry.mode === undefined ? 20 : 0x314, 2],
        [entry.zip64 ? 45 : 20, 2],
        [fact.flags, 2],
        [fact.methodId, 2],
        [0, 2],
        [0x21, 2],
        [fact.crc32, 4],
        [entry.zip64 ? 0xffffffff : fact.compressedSize, 4],
        [entry.zip64 ? 0xffffffff : fact.size, 4],
        [fact.name.byteLength, 2],
        [extra.byteLength, 2],
        [encoder.encode(entry.comment ?? '').byteLength, 2],
        [entry.disk ?? 0, 2],
        [0, 2],
        [attributes, 4],
        [entry.zip64 ? 0xffffffff : offsets[index]!, 4],
        fact.name,
        extra,
        entry.comment ?? '',
      ),
    );
  }

  const directorySize = cursor - base - directoryStart;
  if (spec.zip64) {
    const patch = spec.zip64Patch ?? {};
    const recordStart = cursor - base;
    const count = patch.count ?? order.length;
    push(
      pack(
        [0x06064b50, 4],
        [44 + (patch.extensible ?? 0), 8],
        [45, 2],
        [45, 2],
        [0, 4],
        [0, 4],
        [count, 8],
        [count, 8],
        [patch.size ?? directorySize, 8],
        [patch.offset ?? directoryStart, 8],
        new Uint8Array(patch.extensible ?? 0),
        [0x07064b50, 4],
        [0, 4],
        [recordStart + (patch.recordShift ?? 0), 8],
        [1, 4],
      ),
    );
  }
  const comment = asBytes(spec.comment ?? '');
  const wide = spec.zip64 === true;
  push(
    pack(
      [0x06054b50, 4],
      [spec.disk ?? 0, 2],
      [spec.disk ?? 0, 2],
      [spec.entryCountHere ?? spec.entryCount ?? (wide ? 0xffff : order.length), 2],
      [spec.entryCount ?? (wide ? 0xffff : order.length), 2],
      [spec.directorySize ?? (wide ? 0xffffffff : directorySize), 4],
      [spec.directoryOffset ?? (wide ? 0xffffffff : directoryStart), 4],
      [spec.commentLength ?? comment.byteLength, 2],
      comment,
    ),
  );
  if (spec.suffix) push(spec.suffix);
  const whole = new Uint8Array(Buffer.concat(chunks));
  return spec.truncateTo === undefined ? whole : whole.slice(0, spec.truncateTo);
}

function descriptorBytes(
  form: NonNullable<ZipEntrySpec['descriptor']>,
  fact: { crc32: number; size: number; compressedSize: number },
): Uint8Array {
  if (form instanceof Uint8Array) return form;
  const width = form.startsWith('zip64') ? 8 : 4;
  const signature = form.endsWith('signed') ? pack([DESCRIPTOR_SIGNATURE, 4]) : new Uint8Array(0);
  return pack(signature, [fact.crc32, 4], [fact.compressedSize, width], [fact.size, width]);
}

const DESCRIPTOR_SIGNATURE = 0x08074b50;
