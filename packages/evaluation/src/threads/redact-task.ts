import { type KnownSecrets, type Redacted, redactValue } from '@svc/jsonl-v23/internal';
import { type PackedValue, packOutput, unpackValue } from '../scoring/packed-value.ts';

/** Replaces known secrets in a value. */
export interface RedactTask {
  readonly kind: 'redact';
  readonly value: PackedValue;
  readonly secrets: KnownSecrets;
}

/** A value without known secrets on its way between threads; null if it had none. */
export type PackedRedacted = Redacted<PackedValue> | null;

/** Does the task on the current thread. */
export function packRedacted({ value, secrets }: RedactTask): PackedRedacted {
  const redacted = redactValue(unpackValue(value) ?? null, secrets);
  return redacted.count === 0 ? null : { ...redacted, value: packOutput(redacted.value) };
}
