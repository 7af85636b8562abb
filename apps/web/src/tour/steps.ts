/** A step of the tour. */
interface TourStep {
  readonly title: string;
  readonly text: string;
  /** The page on which it is shown; an address that begins so. */
  readonly route: string;
  /** Whether it offers to add the example. */
  readonly hasExample?: boolean;
  /** Whether an address is that of the next step: the tour then continues by itself. */
  readonly isDone: (path: string, search: Readonly<Record<string, unknown>>) => boolean;
}

/** Upload the example, look at an item, run it, see the score. */
export const TOUR_STEPS: readonly TourStep[] = [
  {
    title: 'Get a dataset',
    text: 'Press “Add the example”, or open an existing dataset. A dataset is a list of items: what a model is given, and what is expected.',
    route: '/datasets',
    hasExample: true,
    isDone: (path) => /^\/datasets\/[0-9a-f-]{36}$/.test(path),
  },
  {
    title: 'Look at an item',
    text: 'Choose an item from the list. The arrow keys move through it. “Exact JSON” shows it with every digit.',
    route: '/datasets',
    isDone: (path, search) => path.startsWith('/datasets/') && search['item'] !== undefined,
  },
  {
    title: 'Run it',
    text: 'Press “New run”, choose “Answers in the items”, and start it: it needs no model and no key. The items of the example hold what a pretend model said, which makes mistakes.',
    route: '/datasets',
    isDone: (path) => /^\/runs\/[0-9a-f-]{36}$/.test(path),
  },
  {
    title: 'See the score',
    text: 'The page follows the run. Below the score are the results: choose one with a red cross to see what was expected, what the model said, and why it is wrong.',
    route: '/runs',
    isDone: () => false,
  },
];

export const TOUR_VERSION = '1';
