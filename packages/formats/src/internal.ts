/** `@svc/formats/internal`: what the hub of the service writes as Inspect reads it. */
export { answeredChoices, choiceLetter, choiceTexts } from './write/item-texts.ts';
