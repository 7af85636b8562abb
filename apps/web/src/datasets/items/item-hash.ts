const HASH = /^[0-9a-f]{64}$/;

/** Whether a text is the hash of an item. */
export const isItemHash = (text: string): boolean => HASH.test(text);
