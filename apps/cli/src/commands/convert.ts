import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
export function addConvertCommand(_program: Command, _cli: Cli): void {}
