/** The node on the machine of the panel. */

/** Its code: every installation has it. */
export const LOCAL_NODE = 'de1'
