/** `@svc/formats/internal`: what the hub of the service writes as Inspect reads it. */
export { choiceLetter } from './messages.ts';
export { answeredChoices, choiceTexts } from './write/item-texts.ts';
