/** Managed nodes for tests of the contract: from the guide, and as their servers report them. */
import { CERT_PEM } from '#test/fixtures/lists/samples.ts'
import type { World } from '#test/support/worlds/world.ts'

const GUIDE = '/admin/api/nodes/provision-guide'
export const HOST_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJbXYV5nYQ3gL0QF7T7uqzS4lF3fGm2xkM8dEwJ1nq9Z'

/** A pending node from the guide; gives its token. */
export async function guided(w: World, more: object = {}): Promise<string> {
  const body = {
    label: 'nl',
    address: 'nl.test',
    include_ws: true,
    include_hysteria2: true,
    ...more,
  }
  const { json } = await w.admin(GUIDE, { body })
  return /install\/([\w-]+)\.sh/.exec(json.command)?.[1] as string
}

export const register = (token: string, body?: object) => ({
  path: `/nodes/register/${token}`,
  method: 'POST',
  ...(body === undefined ? {} : { body }),
})

export const ACTIVE = {
  status: 'active',
  arch: 'amd64',
  core: '26.7.28',
  hysteria: '2.12.1',
  ssh_port: 2222,
  host_keys: [`${HOST_KEY} root@nl`],
  transports: [
    { type: 'ws', cert: CERT_PEM },
    { type: 'hysteria2', cert: `${CERT_PEM}\n` },
  ],
}

/** A node that was set up; gives its token. */
export async function installed(w: World, more: object = {}): Promise<string> {
  const token = await guided(w, more)
  await w.call(register(token).path, { method: 'POST', body: ACTIVE })
  await w.s.background.idle()
  return token
}

export const nodeOf = (w: World) => {
  const [row] = w.rows("select * from nodes where code = 'nl'")
  return { ...row, transports_json: JSON.parse(row.transports_json) }
}
