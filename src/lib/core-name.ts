/** Names of cores, under which their counters are kept. `/` is in no node code, so a managed node's is never the local core's. */

export const LOCAL_CORE = 'local'

/** The name of a managed node's core: its code, but for the one node that has the local core's name as its code. */
export const managedCoreName = (code: string): string =>
  code === LOCAL_CORE ? `managed/${code}` : code

/** The code of the managed node whose core has this name; null for the local core. */
export const codeOfCore = (name: string): string | null =>
  name === LOCAL_CORE ? null : name.replace(/^managed\//, '')
