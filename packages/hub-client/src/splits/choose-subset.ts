import { shorten } from '@svc/tabular/internal';
import { HubError } from '../errors.ts';
import type { DatasetLayout, Subset } from './subset.ts';

/** Subsets that a message lists. */
const MAX_LISTED = 20;

/**
 * Chooses the subset to read: the named one, else the only one, the one called `default`, or the one marked
 * `default: true`.
 *
 * @throws HubError `hub_subset_not_found` with the available names; the subset's own problem, if it has one
 */
export function chooseSubset(layout: DatasetLayout, name?: string): Subset {
  const available = layout.subsets.map((subset) => subset.name);
  const subset =
    name === undefined ? defaultSubset(layout) : layout.subsets.find((other) => other.name === name);
  if (subset === undefined) {
    const missing = name === undefined ? 'Name a subset' : `Subset ${shorten(name)} not found`;
    const names = available.slice(0, MAX_LISTED).join(', ');
    const more = available.length > MAX_LISTED ? `, … (${available.length})` : '';
    throw new HubError('hub_subset_not_found', `${missing}: the dataset has ${names}${more}.`, {
      details: { available },
    });
  }
  if (subset.problem !== null) throw subset.problem;
  return subset;
}

function defaultSubset(layout: DatasetLayout): Subset | undefined {
  if (layout.subsets.length === 1) return layout.subsets[0];
  const candidates = layout.subsets.filter((subset) => subset.name === 'default' || subset.markedDefault);
  if (candidates.length > 1) {
    const available = candidates.map(({ name }) => name);
    throw new HubError(
      'hub_subset_not_found',
      `Name a subset: the dataset has several defaults, ${available.slice(0, MAX_LISTED).join(' and ')}.`,
      { details: { available } },
    );
  }
  return candidates[0];
}
