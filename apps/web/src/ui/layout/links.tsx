import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes } from 'react';

type Native<Props> = Props &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Props> & {
    readonly ref?: React.Ref<HTMLAnchorElement>;
  };

/** A link to a page of the console that looks like a button. */
export const LinkButton = createLink((props: Native<ButtonProps>) => <Button component="a" {...props} />);

/** A link to a page of the console in running text. */
export const LinkAnchor = createLink((props: Native<AnchorProps>) => <Anchor {...props} />);
