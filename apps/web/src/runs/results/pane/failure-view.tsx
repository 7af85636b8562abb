import { Alert, Blockquote, Box } from '@mantine/core';
import { Icon } from '../../../ui/icons.tsx';
import { Dimmed } from '../../../ui/text/dimmed.ts';
import { Plain } from '../../../ui/text/rich-text.tsx';

const TITLES: Readonly<Record<string, string>> = {
  budget_spent: 'The run has reached its maximum cost',
  provider_unavailable: 'The provider could not answer',
  provider_rejected: 'The provider rejected the request',
  provider_not_found: 'The provider does not have the model, or nothing is at its address',
  provider_unauthorized: 'The provider does not accept the key',
  provider_forbidden: 'The key may not use the model',
  provider_key_missing: 'The workers do not have the key',
  provider_rate_limited: 'The provider was asked too often',
  provider_timeout: 'The provider took too long',
  provider_bad_response: 'The provider sent something that is not an answer',
  judge_bad_answer: 'The judge sent something that is not a score',
  item_without_prompt: 'The item has no prompt',
  item_too_large: 'The item is too large',
  field_missing: 'The item lacks a field of the template',
  asset_missing: 'A file of the item is missing',
  checker_invalid: 'The checker of the item is invalid',
  checker_limit: 'The output is too large to be checked',
};

export function FailureView({
  failure: { code = 'failed', message, provider_message: words },
  what,
}: {
  readonly failure: {
    readonly code?: string;
    readonly message?: string;
    readonly provider_message?: string;
  };
  readonly what: 'run' | 'result';
}) {
  return (
    <Alert
      color="red"
      title={TITLES[code] ?? `The ${what} failed`}
      icon={<Icon name="alertTriangle" size={18} />}
    >
      {words !== undefined && (
        <Box component="figure" m={0} mb={6}>
          <Dimmed component="figcaption" size="xs">
            The provider says
          </Dimmed>
          <Blockquote p="xs" m={0} radius="sm" fz="sm" dir="auto" className="break lines">
            {words}
          </Blockquote>
        </Box>
      )}
      <Plain text={message ?? ''} />
      <Dimmed size="xs" ff="monospace">
        {code}
      </Dimmed>
    </Alert>
  );
}
