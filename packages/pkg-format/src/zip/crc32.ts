/**
 * The CRC-32 of ZIP (ISO 3309, polynomial 0xEDB88320), four bytes at a time.
 *
 * @param value the checksum of the bytes before; 0 at the start
 */
export function crc32(bytes: Uint8Array, value: number): number {
  table ??= createTable();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let crc = ~value;
  let at = 0;
  for (const end = bytes.byteLength - 3; at < end; at += 4) {
    crc ^= view.getInt32(at, true);
    crc =
      lookUp(table, 3, crc) ^
      lookUp(table, 2, crc >>> 8) ^
      lookUp(table, 1, crc >>> 16) ^
      lookUp(table, 0, crc >>> 24);
  }
  for (; at < bytes.byteLength; at += 1) crc = (crc >>> 8) ^ lookUp(table, 0, crc ^ view.getUint8(at));
  return ~crc >>> 0;
}

/** The checksum of each byte followed by 0 to 3 zero bytes; 256 numbers each. */
let table: Int32Array | undefined;

function lookUp(numbers: Int32Array, zeroBytes: number, byte: number): number {
  return numbers[zeroBytes * 256 + (byte & 0xff)] as number;
}

function createTable(): Int32Array {
  const numbers = new Int32Array(4 * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    numbers[byte] = crc;
  }
  for (let zeroBytes = 1; zeroBytes < 4; zeroBytes += 1) {
    for (let byte = 0; byte < 256; byte += 1) {
      const before = lookUp(numbers, zeroBytes - 1, byte);
      numbers[zeroBytes * 256 + byte] = (before >>> 8) ^ lookUp(numbers, 0, before);
    }
  }
  return numbers;
}
