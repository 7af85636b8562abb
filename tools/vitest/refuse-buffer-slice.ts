/**
 * Makes `slice` of a `Buffer` an error where the code of this repository calls it: it is a view, and that of other bytes a
 * copy. Bytes are often either, and code that frees or reuses the memory of a copy must not harm its source. Write
 * `subarray` for a view, `new Uint8Array(bytes)` for a copy.
 */
const OWN_CODE = /\/(?:packages|apps)\/[^/]+\/(?:src|dist)\/|\/prisma\/(?:src|dist)\//;

// Files share a process, which runs this once for each of them.
const INSTALLED = Symbol.for('svc.refuse-buffer-slice');

if (!(INSTALLED in Buffer.prototype.slice)) {
  const { slice } = Buffer.prototype;
  const refusing = function (this: Buffer, start?: number, end?: number): Buffer<ArrayBuffer> {
    const caller = callerOf(refusing);
    if (OWN_CODE.test(caller) && !caller.includes('.test.ts') && !caller.includes('/node_modules/')) {
      throw new TypeError('`slice` of a Buffer is a view: use `subarray`, or copy.');
    }
    return slice.call(this, start, end) as Buffer<ArrayBuffer>;
  };
  Buffer.prototype.slice = Object.assign(refusing, { [INSTALLED]: true });
}

/** The file that calls a function. Cheaper than a stack as text, whose places Vitest maps to sources: drivers slice a lot. */
function callerOf(callee: (...args: never[]) => unknown): string {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = 1;
    Error.prepareStackTrace = (_error, [site]) => site?.getFileName() ?? '';
    const trace: { stack?: string } = {};
    Error.captureStackTrace(trace, callee);
    return trace.stack ?? '';
  } finally {
    Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  }
}
