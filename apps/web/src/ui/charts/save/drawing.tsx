import type { ReactNode } from 'react';

/** Pixels above what a drawing shows, and around it. */
export const [TITLE, PADDING] = [30, 12] as const;

/** A chart of a file: its title above what it shows. */
export function Drawing({
  title,
  width,
  height,
  children,
}: {
  readonly title: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly children: ReactNode;
}) {
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      fontSize={12}
    >
      <title>{title}</title>
      <text x={PADDING} y={20} fontSize={14} fontWeight={600}>
        {title}
      </text>
      {children}
    </svg>
  );
}

/** A name that a drawing has room for. */
export const shortName = (name: string, length: number): string =>
  name.length > length ? `${name.slice(0, length)}…` : name;
