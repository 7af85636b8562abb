import { lastMessageText, type Provider } from '@svc/evaluation';

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
