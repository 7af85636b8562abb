/** The lines of a stream of text. Memory holds one line and one piece of the stream. */
export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest: string[] = [];
  for await (const text of body.pipeThrough(
    new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>,
  )) {
    const pieces = text.split('\n');
    const last = pieces.pop() ?? '';
    for (const piece of pieces) {
      yield rest.join('') + piece;
      rest = [];
    }
    rest.push(last);
  }
  const end = rest.join('');
  if (end !== '') yield end;
}
