/** Servers that become nodes of a panel. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { sha256Hex } from '#src/lib/crypto.ts'
import { findCore } from '#test/support/cores.ts'
import { freePort, ROOT } from '#test/support/drivers/process.ts'
import { addStandIn, openForCore } from '#test/support/labs/node-lab.ts'
import { createSshServer, type SshServer } from '#test/support/labs/ssh-server.ts'
import { type PanelBrowser, soon } from './panel-browser.ts'

const PROGRAM = join(ROOT, 'templates/node-agent.sh')

interface Node {
  code: string
  label: string
  status: string
  enabled: boolean
  provisioning: string | null
  last_seen_at: string | null
  last_error: string | null
  host_key: string | null
  presented_host_key: string | null
  transports_json: { type: string }[]
}

/** Made by a test in place of a machine of its own: a real sshd, the real node program, the real Xray behind it. */
export interface TestServer {
  sshd: SshServer
  /** Configures and starts the core as the install script of this token would, then reports to the panel. */
  install(token: string): Promise<void>
  close(): Promise<void>
}

export const tokenOf = (command: string | null) =>
  /\/install\/([\w-]+)\.sh/.exec(command ?? '')?.[1] as string

/** Those of one panel. */
export function createPanelServers(panel: PanelBrowser) {
  const servers: TestServer[] = []

  async function startServer(): Promise<TestServer> {
    const publicKey = (await panel.server.call('/mgmt-pubkey.txt')).text.trim()
    const settings = 'SUBPANEL_NODE_DIR=$DIR/node SUBPANEL_NODE_CONF=$DIR/etc/node.conf'
    const command = `env ${settings} PATH=$DIR:$PATH bash ${PROGRAM}`
    const sshd = await createSshServer(publicKey, command)
    const state = join(sshd.dir, 'node')
    const xray = findCore('xray')
    const { env, addUnit, systemctl } = addStandIn(sshd.dir, state, [`XRAY_BIN=${xray}`])
    mkdirSync(state)
    chmodSync(sshd.dir, 0o755)
    openForCore(state)
    // In a network of its own: it serves nobody here, its API is a socket in the folder.
    addUnit('xray', [
      `ExecStartPre=-/bin/bash ${PROGRAM} prestart`,
      `ExecStart=/usr/bin/unshare --net ${xray} run -c ${state}/config.json`,
      'Restart=always',
    ])
    await sshd.start()
    const server: TestServer = {
      sshd,
      async install(token) {
        const script = (await panel.server.call(`/install/${token}.sh`)).text
        const value = (name: string) => new RegExp(`\\b${name}='([^']*)'`).exec(script)?.[1] ?? ''
        const parameters = Buffer.from(value('XRAY_PARAMS'), 'base64').toString()
        const lines = parameters.split('\n').length - 1
        const conf = env.SUBPANEL_NODE_CONF as string
        const settings = readFileSync(conf, 'utf8').replace(/^NODE=.*\n/m, '')
        writeFileSync(conf, `${settings}NODE=${value('CODE')}\n`)
        const caller = { owner: value('OWNER'), node: value('CODE') }
        const header = { ...caller, config: sha256Hex(parameters), lines }
        const said = execFileSync('bash', [PROGRAM, 'configure'], {
          input: `${JSON.stringify(header)}\n${parameters}`,
          env: { ...process.env, ...env },
          encoding: 'utf8',
        })
        expect(JSON.parse(said)).toMatchObject({ ok: true })
        const report = { status: 'active', arch: 'amd64', core: '26.7.28', ssh_port: sshd.port }
        const answered = await register(token, { ...report, host_keys: sshd.hostKeys() })
        expect(answered).toBe(200)
      },
      async close() {
        execFileSync(systemctl, ['halt'])
        await sshd.close()
      },
    }
    servers.push(server)
    return server
  }

  /** What templates/install.sh sends at its end, or where it fails. */
  async function register(token: string, body?: object): Promise<number> {
    const answered = await panel.server.call(`/nodes/register/${token}`, { body, method: 'POST' })
    return answered.status
  }

  const nodeOf = async (code: string) =>
    ((await panel.admin('/nodes')) as Node[]).find((node) => node.code === code)

  const guide = async (more: object) =>
    tokenOf(
      (
        (await panel.admin('/nodes/provision-guide', { address: '127.0.0.1', ...more })) as {
          command: string
        }
      ).command,
    )

  /** A managed node that works, and its server. */
  async function addManaged(label: string, code: string): Promise<TestServer> {
    const server = await startServer()
    const token = await guide({ label, port: await freePort() })
    await server.install(token)
    await soon(() => nodeOf(code)).toMatchObject({
      last_seen_at: expect.any(String),
      last_error: null,
    })
    return server
  }

  return {
    startServer,
    register,
    nodeOf,
    guide,
    addManaged,
    async close() {
      for (const server of servers) await server.close()
    },
  }
}

export type PanelServers = ReturnType<typeof createPanelServers>
