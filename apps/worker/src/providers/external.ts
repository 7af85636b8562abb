import { type Provider, RunError } from '@svc/evaluation';

/** The provider of a run whose outputs came from outside: a worker only scores them again. */
export function createExternalProvider(): Provider {
  return {
    usesMessages: false,
    complete: async () => {
      throw new RunError('invalid_request', 'The run has no provider: clients send its results.');
    },
  };
}
