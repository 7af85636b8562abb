/**
 * Bytes in a separate `ArrayBuffer`, as `Blob` and `fetch` take them. Before TypeScript 5.7, `Uint8Array` had no
 * parameter for the buffer.
 */
export type OwnBytes = ReturnType<typeof Uint8Array.of>;
