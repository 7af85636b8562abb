import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes } from 'react';
import { Icon } from '../icons.tsx';
import type { Labelled } from '../small-button.tsx';

type Native<Props> = Props &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Props> & {
    readonly ref?: React.Ref<HTMLAnchorElement>;
  };

/** A link to a page of the console that looks like a button. */
export const LinkButton = createLink(({ label, icon, ...rest }: Native<ButtonProps> & Labelled) => (
  <Button component="a" size="xs" leftSection={icon && <Icon name={icon} size={16} />} {...rest}>
    {label}
  </Button>
));

/** A link to a page of the console in running text. */
export const LinkAnchor = createLink((props: Native<AnchorProps>) => <Anchor {...props} />);

/** A link to a run, or to one of its results, in a line of a table. */
export const RunLink = ({
  id,
  label,
  ...search
}: {
  readonly id: string;
  readonly label: string;
  readonly result?: string;
}) => (
  <LinkAnchor to="/runs/$id" params={{ id }} search={search} size="sm">
    {label}
  </LinkAnchor>
);
