import { Alert, Stack } from '@mantine/core';
import { SendForm } from './send-form.tsx';

/** An archive of an older format, which the service converts while it imports it. */
export function LegacyUpload({ files }: { readonly files: readonly File[] }) {
  return (
    <Stack>
      <Alert color="yellow" variant="light" title="An archive of an older format">
        The upload converts it to a package. The archive itself is not kept.
      </Alert>
      <SendForm files={files} expectedHash={null} isReady convert />
    </Stack>
  );
}
