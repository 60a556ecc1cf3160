/** The cores of managed nodes: each has its own server, which the node program is driven on over SSH. */
import { isSetUp, type Node, type RetiredNode } from '#db/schema/index.ts'
import { managedCoreName } from '#src/lib/core-name.ts'
import { splitHostKeys } from '#src/lib/host-key.ts'
import type { Core, Cores } from '#src/ports/cores.ts'
import { nodeProgram } from './program.ts'
import type { SshServer } from './ssh-connection.ts'
import type { HostKeys, SshShell, SshThread } from './ssh-thread.ts'

/** The account that the install script makes. */
const DEFAULT_USER = 'subpanel'

interface Deps {
  ssh: SshThread
  privateKey(): Promise<string>
  hostKeysOf(code: string): HostKeys
}

interface Kept {
  /** What makes it another server. */
  place: string
  shell: SshShell
  core: Core
}

const serverOf = ({ address, sshPort, sshUser }: Node | RetiredNode): SshServer => ({
  address,
  port: sshPort,
  user: sshUser ?? DEFAULT_USER,
})

/** The pins of a deleted node stay as they were; where it never had any, the first key counts while this process runs. */
function retiredHostKeys({ hostKey }: RetiredNode): HostKeys {
  const pinned = splitHostKeys(hostKey)
  return {
    pinned: () => pinned,
    async admit(key) {
      if (pinned.length === 0) pinned.push(key)
      return pinned.includes(key)
    },
  }
}

/** `of` gives the same core for a node until its address, SSH port or user changes. */
export function createManagedCores({ ssh, privateKey, hostKeysOf }: Deps): Cores {
  const cores = new Map<string, Kept>()
  const visits = new Set<SshShell>()

  const keep = (node: Node): Core => {
    const { code } = node
    const server = serverOf(node)
    const place = JSON.stringify(server)
    const known = cores.get(code)
    if (known?.place === place) return known.core
    known?.shell.close()
    const shell = ssh.shell({ server, hostKeys: hostKeysOf(code), privateKey })
    const core: Core = {
      name: managedCoreName(code),
      program: nodeProgram(shell.run, code),
      known: null,
    }
    cores.set(code, { place, shell, core })
    return core
  }
  const forget = (code: string) => {
    cores.get(code)?.shell.close()
    cores.delete(code)
  }
  return {
    of(node) {
      if (node.kind === 'managed' && isSetUp(node)) return keep(node)
      forget(node.code)
      return null
    },
    forget,
    // A deleted node is visited rarely, and what was known of it must be nobody else's: a connection for each call.
    retired(node) {
      const hostKeys = retiredHostKeys(node)
      const access = { server: serverOf(node), hostKeys, privateKey }
      return nodeProgram(async (...call) => {
        const shell = ssh.shell(access)
        visits.add(shell)
        try {
          return await shell.run(...call)
        } finally {
          visits.delete(shell)
          shell.close()
        }
      }, node.code)
    },
    close() {
      ssh.close()
      cores.clear()
      visits.clear()
    },
  }
}
