import { Page } from '../../ui/layout/page.tsx';

export function NewRunPage() {
  return <Page title="New run">{null}</Page>;
}
