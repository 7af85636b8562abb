import { Page } from '../ui/layout/page.tsx';

export function ComparePage() {
  return <Page title="Compare">{null}</Page>;
}
