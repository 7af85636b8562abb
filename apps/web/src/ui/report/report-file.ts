import type { ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

/** A document as one HTML file. */
export const reportFile = (document: ReactElement): Blob =>
  new Blob([`<!doctype html>${renderToStaticMarkup(document)}`], { type: 'text/html' });

/** When a report is made: `2026-11-23 16:20`, in UTC. */
export const reportTime = (): string => `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`;
