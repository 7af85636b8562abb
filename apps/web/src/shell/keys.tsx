import { Group, Kbd, Modal } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { useEffect } from 'react';
import { NameValues } from '../ui/layout/name-values.tsx';
import { onDemand } from '../ui/on-demand.tsx';

const Palette = onDemand(
  () => import('./palette.tsx'),
  () => null,
);

const KEYS = [
  [['Ctrl', 'K'], 'Go to a page, a dataset, a run or an item'],
  [['/'], 'Search on this page'],
  [['j'], 'The next row of the list'],
  [['k'], 'The previous row'],
  [['Enter'], 'Open the row'],
  [['x'], 'Choose the row, in lists with something to do with several'],
  [['e'], 'Edit the open item'],
  [['1', '0'], 'Label the open result as right or wrong; press again to remove the label'],
  [['Home', 'End'], 'The first or last row of the list'],
  [['?'], 'This list of keys'],
] as const;

export function Keys() {
  const [isHelpOpen, help] = useDisclosure(false);
  const [isPaletteOpen, palette] = useDisclosure(false);
  const search = (): void => document.querySelector<HTMLElement>('[role=search] input')?.focus();
  useHotkeys([
    ['/', search],
    ['shift+?', help.open],
    ['?', help.open],
  ]);
  useHotkeys([['mod+K', palette.open]], []);
  return (
    <>
      <Modal opened={isHelpOpen} onClose={help.close} title="Keys">
        <NameValues
          rows={KEYS.map(([keys, does]) => [
            does,
            <Group key={does} gap={4} wrap="nowrap">
              {keys.map((key) => (
                <Kbd key={key} className="whole">
                  {key}
                </Kbd>
              ))}
            </Group>,
          ])}
        />
      </Modal>
      {isPaletteOpen && <Palette onClose={palette.close} />}
    </>
  );
}

/** Gives the focus to what is nearest where the element that has it is taken from the page: it never falls to the body. */
export function useKeepFocus(): void {
  useEffect(() => {
    const leaving = new AbortController();
    let focused: Element | null = null;
    let around: readonly Element[] = [];
    document.addEventListener(
      'focusin',
      ({ target }) => {
        if (!(target instanceof Element)) return;
        focused = target;
        around = [...ancestorsOf(target)];
      },
      { signal: leaving.signal },
    );
    const observer = new MutationObserver(() => {
      if (focused === null || focused.isConnected || document.activeElement !== document.body) return;
      focused = null;
      nearest(around)?.focus({ preventScroll: true });
    });
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      leaving.abort();
    };
  }, []);
}

function* ancestorsOf(element: Element): Generator<Element> {
  for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) yield parent;
}

const LIST = '[role=grid][tabindex]';

/** A list next to where the focus was, else the heading of the page. */
function nearest(around: readonly Element[]): HTMLElement | null {
  const main = document.querySelector('main');
  for (const element of around) {
    if (element === main) break;
    const list = element.isConnected ? element.querySelector<HTMLElement>(LIST) : null;
    if (list !== null) return list;
  }
  return document.querySelector<HTMLElement>('h1[tabindex]');
}
