import {
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonPointer,
  setMember,
} from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import type { Place } from '../lost.ts';
import { choiceLetter, contentText, OWN_ITEM, ownItem, withMessages } from '../messages.ts';
import {
  elementsOf,
  invalidLine,
  isFilled,
  memberOf,
  membersOf,
  numberOf,
  pick,
  textOf,
} from '../read-json.ts';
import { ScoreList, scorerName } from '../scores.ts';
import type { ReadContext, ToolResult, ToolSample } from '../tool.ts';

export function toSample(
  raw: JsonObject,
  section: string,
  { limits }: ReadContext,
  place: Place,
): ToolSample {
  const attachments = new Attachments(raw, limits.maxLineBytes, place);
  const sample: JsonObject = {
    ...raw,
    input: attachments.resolve(raw['input']),
    output: attachments.resolve(raw['output']),
  };
  const { id = null, epoch = null } = raw;
  if (typeof id !== 'string' && typeof id !== 'number')
    throw invalidLine('id must be a text or a number', place.location, '/id');
  const own = ownItem(raw['metadata'] ?? null, place);
  const item = own ?? toItem(sample, id, place);
  return {
    section,
    key: JSON.stringify(id),
    item,
    isOwn: own !== null,
    sourceRow: pick(sample, 'id', 'input', 'target', 'choices', 'metadata'),
    result: toResult(sample, numberOf(epoch), place),
    location: place.location,
  };
}

function toItem(sample: JsonObject, id: string | number, place: Place): JsonObject {
  const images: JsonObject[] = [];
  const plain = (content: JsonValue): JsonValue => {
    if (!Array.isArray(content)) return content;
    for (const part of content) {
      const type = textOf(memberOf(part, 'type')) ?? 'unknown';
      const image = textOf(memberOf(part, 'image'));
      if (type === 'image' && image !== null)
        images.push({ url: image, ...(image.startsWith('data:') ? {} : { mime_type: 'image/*' }) });
      else if (type !== 'text') place.lost(`${type} content`);
    }
    return contentText(content);
  };
  const { input = null, target = null, choices = null, metadata = null } = sample;
  const messages = Array.isArray(input)
    ? input.map((message) =>
        isJsonObject(message) ? { ...message, content: plain(memberOf(message, 'content')) } : message,
      )
    : input;
  const { [OWN_ITEM]: _, ...meta } = membersOf(metadata);
  const options = elementsOf(choices);
  return {
    id,
    ...(options.length === 0 ? {} : { type: 'multiple_choice' }),
    inputs: {
      ...withMessages(messages, place),
      ...(options.length === 0 ? {} : { choices: [...options] }),
    },
    ...(isFilled(target) ? { answer: answerOf(target, options) } : {}),
    ...(images.length === 0 ? {} : { assets: images }),
    ...(isFilled(meta) ? { meta } : {}),
  };
}

function answerOf(target: JsonValue, choices: readonly JsonValue[]): JsonValue {
  if (Array.isArray(target)) return target.map((one) => answerOf(one, choices));
  const index = choices.findIndex((_, at) => choiceLetter(at) === target);
  return choices[index] ?? target;
}

function toResult(sample: JsonObject, epoch: number | null, place: Place): ToolResult {
  const { output = null, scores = null, error = null, messages = null, model_usage: usage = null } = sample;
  const choices = elementsOf(memberOf(output, 'choices'));
  const message = memberOf(choices[0], 'message');
  const content = memberOf(message, 'content');
  place.lost('further choices of the output', Math.max(0, choices.length - 1));
  const thoughts = elementsOf(content)
    .filter((part) => memberOf(part, 'type') === 'reasoning')
    .map((part) => textOf(memberOf(part, 'reasoning')) ?? '')
    .filter((text) => text !== '');
  const others = elementsOf(content).filter(
    (part) => !['text', 'reasoning'].includes(textOf(memberOf(part, 'type')) ?? ''),
  ).length;
  place.lost('output that is not text', others);
  const calls = elementsOf(messages).reduce<number>(
    (sum, one) => sum + elementsOf(memberOf(one, 'tool_calls')).length,
    0,
  );
  place.lost('tool calls', calls);
  if (isFilled(memberOf(sample, 'limit'))) place.lost('limit');
  const list = new ScoreList(place);
  for (const [name, score] of Object.entries(membersOf(scores))) {
    const explanation = textOf(memberOf(score, 'explanation'));
    const answer = textOf(memberOf(score, 'answer'));
    if (explanation !== null && answer !== null && answer !== explanation) place.lost(`answer of ${name}`);
    const value = memberOf(score, 'value');
    // A value that is no number was not scored: no mean of the log includes it either.
    if (value === null) place.lost(`missing score of ${scorerName(name)}`);
    else list.add(name, toScore(value), explanation ?? answer);
  }
  const seconds = numberOf(memberOf(output, 'time'));
  const failure = textOf(memberOf(error, 'message')) ?? textOf(memberOf(output, 'error'));
  return {
    repetition: epoch ?? 1,
    output: choices.length === 0 ? null : contentText(content),
    reasoning: thoughts.length === 0 ? null : thoughts.join('\n\n'),
    error: failure ?? (isFilled(error) ? 'The sample failed.' : null),
    scores: list.scores,
    latencyMs: seconds === null ? null : seconds * 1000,
    usage: usageOf(usage),
    finishReason: finishReason(textOf(memberOf(choices[0], 'stop_reason'))),
    traceId: null,
  };
}

const LETTERS: ReadonlyMap<string, number> = new Map(Object.entries({ C: 1, I: 0, P: 0.5, N: 0 }));
const WORDS: ReadonlyMap<string, number> = new Map(Object.entries({ yes: 1, true: 1, no: 0, false: 0 }));

/** A score as Inspect counts it: letters, words and texts of numbers are numbers. */
function toScore(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  const known = LETTERS.get(value) ?? WORDS.get(value.toLowerCase());
  if (known !== undefined) return known;
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(value) ? Number(value) : value;
}

function usageOf(usage: JsonValue): JsonObject | null {
  const sums = new Map<string, number>();
  for (const one of Object.values(membersOf(usage))) {
    for (const [name, count] of Object.entries(membersOf(one))) {
      if (typeof count === 'number') sums.set(name, (sums.get(name) ?? 0) + count);
    }
  }
  return sums.size === 0 ? null : Object.fromEntries(sums);
}

const finishReason = (reason: string | null): string | null =>
  reason === 'max_tokens' || reason === 'model_length' ? 'length' : reason;

const PROTOCOL = 'attachment://';

/** The texts of a sample that are kept apart, put back where they are named. */
class Attachments {
  readonly #texts: JsonObject;
  /** What names stand for: thousands of references may share a chain of as many names. */
  readonly #resolved = new Map<string, string>();
  readonly #place: Place;
  #lengthLeft: number;
  readonly #maxBytes: number;

  constructor(sample: JsonObject, maxBytes: number, place: Place) {
    this.#texts = membersOf(sample['attachments']);
    this.#maxBytes = maxBytes;
    this.#lengthLeft = maxBytes;
    this.#place = place;
  }

  /** @throws PackageError `package_invalid_line` for texts that refer to themselves, `package_limit` */
  resolve(value: JsonValue | undefined): JsonValue {
    if (typeof value === 'string') return value.startsWith(PROTOCOL) ? this.#textOf(value) : value;
    if (Array.isArray(value)) return value.map((element) => this.resolve(element));
    if (!isJsonObject(value)) return value ?? null;
    const resolved: JsonObject = {};
    for (const [key, member] of Object.entries(value)) setMember(resolved, key, this.resolve(member));
    return resolved;
  }

  #textOf(reference: string): string {
    const passed = new Set<string>();
    let text = reference;
    while (text.startsWith(PROTOCOL)) {
      const name = text.slice(PROTOCOL.length);
      if (passed.has(name)) {
        throw invalidLine(
          'The attachment refers to itself',
          this.#place.location,
          jsonPointer(['attachments', name]),
        );
      }
      passed.add(name);
      const known = this.#resolved.get(name);
      const next = known ?? getMember(this.#texts, name);
      if (typeof next === 'string') text = next;
      if (typeof next !== 'string' || known !== undefined) break;
    }
    for (const name of passed) this.#resolved.set(name, text);
    if (text.startsWith(PROTOCOL)) {
      this.#place.lost('missing attachments');
      return text;
    }
    this.#lengthLeft -= text.length;
    if (this.#lengthLeft < 0) {
      const message = `The sample must have at most ${this.#maxBytes} bytes with its attachments.`;
      throw new PackageError('package_limit', message, { location: this.#place.location });
    }
    return text;
  }
}
