/**
 * CRC-32 as ZIP uses it (ISO 3309, polynomial 0xEDB88320), four bytes at a time; runs anywhere.
 *
 * @param value the checksum of the bytes before, 0 at the start
 */
export function crc32(bytes: Uint8Array, value: number): number {
  const [t0, t1, t2, t3] = tables();
  let crc = ~value;
  let i = 0;
  for (const end = bytes.length - 3; i < end; i += 4) {
    crc ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    crc = t3[crc & 0xff]! ^ t2[(crc >>> 8) & 0xff]! ^ t1[(crc >>> 16) & 0xff]! ^ t0[crc >>> 24]!;
  }
  for (; i < bytes.length; i++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[i]!) & 0xff]!;
  return ~crc >>> 0;
}

type Tables = readonly [Int32Array, Int32Array, Int32Array, Int32Array];
let cached: Tables | undefined;

function tables(): Tables {
  if (cached) return cached;
  const made: Tables = [new Int32Array(256), new Int32Array(256), new Int32Array(256), new Int32Array(256)];
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    made[0][byte] = crc;
  }
  for (let byte = 0; byte < 256; byte++) {
    for (let step = 1; step < 4; step++) {
      const before = made[step - 1]![byte]!;
      made[step]![byte] = (before >>> 8) ^ made[0][before & 0xff]!;
    }
  }
  cached = made;
  return made;
}
