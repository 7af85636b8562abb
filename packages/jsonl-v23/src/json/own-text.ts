const [ENCODER, DECODER] = [new TextEncoder(), new TextDecoder('utf-8', { ignoreBOM: true })];

/** A copy of a text: one that was cut out of a longer text keeps all of that in memory. */
export function ownText(text: string): string {
  return text.isWellFormed() ? DECODER.decode(ENCODER.encode(text)) : text;
}
