import { ActionIcon, Menu } from '@mantine/core';
import { IconPhotoDown } from '@tabler/icons-react';
import type { ReactElement } from 'react';
import { loadedAgain } from '../../../api/service-responds.ts';
import { useNotify } from '../../layout/notices.tsx';
import { saveFile } from '../../save-file.ts';

const load = loadedAgain(() => import('./chart-file.ts'));

/** A button that saves a chart as a file. */
export function SaveChart({
  title,
  draw,
}: {
  /** Title of the chart; with an extension, the name of its file. */
  readonly title: string;
  /** A drawing, or the chart as it is in the page; null while there is none. */
  readonly draw: () => ReactElement | Element | null;
}) {
  const notify = useNotify();
  const save = async (format: 'svg' | 'png'): Promise<void> => {
    const { svgFile, pngFile } = await load();
    const chart = draw();
    if (chart === null) return;
    const svg = svgFile(chart);
    const file = format === 'svg' ? new Blob([svg], { type: 'image/svg+xml' }) : await pngFile(svg);
    saveFile(file, `${title}.${format}`);
    notify('The chart is saved.');
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Save the chart ${title}`}>
          <IconPhotoDown size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void save('svg')}>SVG</Menu.Item>
        <Menu.Item onClick={() => void save('png')}>PNG</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
