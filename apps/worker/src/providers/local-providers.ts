import {
  fieldMissing,
  isIndex,
  lastMessageText,
  type Provider,
  pointerSteps,
  RunError,
} from '@svc/evaluation';
import { getMember, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';

/** A provider that returns the text of the last message, to try a dataset or a deployment without a model. */
export function createEchoProvider(): Provider {
  return {
    usesMessages: true,
    outputSource: { from: 'last_message' },
    async complete({ messages }) {
      return { output: lastMessageText(messages), usage: null, finishReason: null, attempts: null };
    },
  };
}

/** The provider of a run whose outputs came from outside: a worker only scores them again. */
export function createExternalProvider(): Provider {
  return {
    usesMessages: false,
    complete: async () => {
      throw new RunError('invalid_request', 'The run has no provider: clients send its results.');
    },
  };
}

/**
 * A provider that takes its outputs from the items, to score outputs from other tools. An item without a value at the
 * pointer fails with `field_missing`; null is an output.
 *
 * @param pointer JSON Pointer (RFC 6901) into the item
 */
export function createItemFieldProvider(pointer: string): Provider {
  const steps = pointerSteps(pointer);
  return {
    usesMessages: false,
    outputSource: { from: 'pointer', pointer },
    async complete({ item }) {
      let value: JsonValue | undefined = item;
      for (const step of steps) value = value === undefined ? undefined : memberOf(value, step);
      if (value === undefined) throw fieldMissing(pointer);
      return { output: value, usage: null, finishReason: null, attempts: null };
    },
  };
}

function memberOf(value: JsonValue, step: string): JsonValue | undefined {
  if (Array.isArray(value)) return isIndex(step) ? value[Number(step)] : undefined;
  return isJsonObject(value) ? getMember(value, step) : undefined;
}
