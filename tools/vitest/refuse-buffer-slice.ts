/**
 * Makes `slice` of a `Buffer` an error where the code of this repository calls it: it is a view, and that of other bytes a
 * copy. Bytes are often either, and code that frees or reuses the memory of a copy must not harm its source. Write
 * `subarray` for a view, `new Uint8Array(bytes)` for a copy.
 */
const OWN_CODE = /\/(?:packages|apps)\/[^/]+\/(?:src|dist)\/|\/prisma\/(?:src|dist)\//;

const { slice } = Buffer.prototype;
Buffer.prototype.slice = function (this: Buffer, start?: number, end?: number): Buffer<ArrayBuffer> {
  const caller = new Error().stack?.split('\n')[2] ?? '';
  if (OWN_CODE.test(caller) && !caller.includes('.test.ts') && !caller.includes('/node_modules/')) {
    throw new TypeError('`slice` of a Buffer is a view: use `subarray`, or copy.');
  }
  return slice.call(this, start, end) as Buffer<ArrayBuffer>;
};
