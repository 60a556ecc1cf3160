/** Rows of `settings` that are no live setting; what is needed before, and without, everything else that knows the database. */

export const INSTANCE_ID = 'INSTANCE_ID'
/** The text of the env file that a restore has decided on and may not have written yet. */
export const PENDING_ENV = 'PENDING_ENV'
/** Another value after each restore: the env file's live values have changed, and processes read them anew. */
export const ENV_GENERATION = 'ENV_GENERATION'
/** The generation of the last restore after which all pending payments were asked about. */
export const PAYMENTS_GENERATION = 'PAYMENTS_GENERATION'
/** A generation, and the codes of the nodes from which nothing is removed since that restore until an admin sends `force`. */
export const ADD_ONLY_NODES = 'ADD_ONLY_NODES'
/**
 * What backups are encrypted with, as lib/passphrase-key.ts writes it. It belongs to this machine: no copy of the database has it,
 * and a restore leaves it as it is.
 */
export const BACKUP_KEY = 'BACKUP_KEY'

/** Credentials of shops that were replaced, as JSON, oldest first (domain/payments/previous-credentials.ts). */
export const PREVIOUS_CREDENTIALS = 'PREVIOUS_CREDENTIALS'
