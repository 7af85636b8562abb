import { type NewRunBody, type RunForm, toRequest } from './run-form.ts';

/** The most runs that one form starts. */
export const MAX_RUNS = 20;

/**
 * The requests of a form: one, or one for each model with each prompt template. The first is the form itself.
 *
 * @returns null while something that they need is absent or invalid
 */
export function toRequests(form: RunForm): readonly NewRunBody[] | null {
  const models = [form.model.model, ...(asksModel(form) ? form.models : [])];
  const templates = [form.promptTemplate, ...form.promptTemplates.filter((text) => text.trim() !== '')];
  const requests = models.flatMap((model) =>
    templates.map((promptTemplate, at) => {
      const name = nameOf(form, {
        model: models.length > 1 || templates.length > 1 ? model : null,
        prompt: templates.length > 1 ? at + 1 : null,
      });
      return toRequest({ ...form, name, promptTemplate, model: { ...form.model, model } });
    }),
  );
  return requests.every((request) => request !== null) ? requests : null;
}

/** Whether the provider has models to choose from. */
export const asksModel = ({ provider }: Pick<RunForm, 'provider'>): boolean =>
  provider === 'openai_compatible' || provider === 'anthropic';

/** A name that tells the runs of a form apart; without one, a run is called like its model. */
function nameOf(
  { name }: Pick<RunForm, 'name'>,
  { model, prompt }: { readonly model: string | null; readonly prompt: number | null },
): string {
  const stated = name.trim();
  const differs = [model, prompt === null ? null : `prompt ${prompt}`].filter(
    (part) => part !== null && part !== '',
  );
  if (differs.length === 0 || (stated === '' && prompt === null)) return stated;
  return [stated, ...differs]
    .filter((part) => part !== '')
    .join(', ')
    .slice(0, 255);
}
