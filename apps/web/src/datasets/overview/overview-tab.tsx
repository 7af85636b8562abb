import type { Dataset } from '../items/item-windows.ts';

export default function OverviewTab({ dataset }: { readonly dataset: Dataset }) {
  return <>{dataset.name}</>;
}
