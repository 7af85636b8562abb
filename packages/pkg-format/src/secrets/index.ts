/** `@svc/pkg-format/secrets`: finds and removes secrets in the configurations of runs and in other texts. */
export { findRunConfigSecrets, holdsSecret, sanitiseRunConfig } from './sanitise-run-config.ts';
export { redactNamedSecrets, redactSecretForms } from './secret-texts.ts';
