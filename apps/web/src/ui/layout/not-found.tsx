import { Text } from '@mantine/core';
import { LinkAnchor } from './links.tsx';
import { Page } from './page.tsx';

/** What an address without a page shows. */
export function NotFound() {
  return (
    <Page title="Not found">
      <Text>
        The console has no page at this address. <LinkAnchor to="/datasets">See the datasets</LinkAnchor>.
      </Text>
    </Page>
  );
}
