const [ENCODER, DECODER] = [new TextEncoder(), new TextDecoder('utf-8', { ignoreBOM: true })];

/** A copy of a text: a text that was cut out of a longer one keeps all of it in memory. */
export function ownText(text: string): string {
  return text.isWellFormed() ? DECODER.decode(ENCODER.encode(text)) : text;
}
