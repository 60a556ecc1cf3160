/**
 * All tables, a file for each subject. SQL names are the interface's names; row types are inferred here and declared nowhere else.
 * Timestamps are text, `YYYY-MM-DDTHH:MM:SS` in UTC, and compare as they sort.
 */
export * from './accounts.ts'
export * from './audit.ts'
export * from './customers.ts'
export * from './facts.ts'
export * from './installation.ts'
export * from './list-templates.ts'
export * from './node-groups.ts'
export * from './node-hosts.ts'
export * from './nodes.ts'
export * from './notify.ts'
export * from './payments.ts'
export * from './plans.ts'
export * from './subscriptions.ts'
export * from './traffic.ts'
