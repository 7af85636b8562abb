import { Group, Kbd, Modal } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { loadedAgain } from '../api/service-responds.ts';
import { NameValues } from '../ui/layout/name-values.tsx';

const Palette = lazy(loadedAgain(() => import('./palette.tsx')));

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

/** The keys that work on every page, outside of fields. */
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
      {isPaletteOpen && (
        <Suspense>
          <Palette onClose={palette.close} />
        </Suspense>
      )}
    </>
  );
}
