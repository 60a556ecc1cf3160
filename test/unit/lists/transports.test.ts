/** gRPC, and the ports among which clients of Hysteria2 hop, in every format. */
import { expect, test } from 'vitest'
import { listEntries } from '#src/domain/lists/entries.ts'
import { type ListFormat, type ListOptions, renderList } from '#src/domain/lists/formats.ts'
import {
  ALL_TRANSPORTS,
  listSource,
  PUBLIC_KEY,
  UUID,
  WITH_GRPC,
} from '#test/fixtures/lists/samples.ts'

const OPTIONS: ListOptions = { brandName: 'Subpanel', singboxVersion: null, wsAndXhttp: true }
type Source = Parameters<typeof listSource>[0]
const render = (format: ListFormat, source: Source, options: Partial<ListOptions> = {}) =>
  renderList(format, listEntries([listSource(source)]), { ...OPTIONS, ...options })
const outboundOf = (text: string, tag: string) =>
  JSON.parse(text).outbounds.find((one: { tag: string }) => one.tag === tag)

const GRPC = { transports: WITH_GRPC }
const NAME = 'Germany · gRPC'

test('gRPC has a link for apps built on Xray alone', () => {
  expect(render('links', GRPC).split('\n')[2]).toBe(
    `vless://${UUID}@de1.example.com:443?encryption=none&type=grpc&serviceName=0123456789abcdef&mode=gun&security=reality&sni=target.test&fp=chrome&pbk=${PUBLIC_KEY}&sid=0123456789abcdef&spx=%2F#Germany%20%C2%B7%20gRPC`,
  )
  expect(render('links', GRPC, { wsAndXhttp: false })).not.toContain('grpc')
})

test('gRPC is in the lists of all cores, behind REALITY and without flow', () => {
  expect(outboundOf(render('xray', GRPC), `proxy ${NAME}`)).toMatchObject({
    settings: { vnext: [{ port: 443, users: [{ id: UUID, encryption: 'none' }] }] },
    streamSettings: {
      network: 'grpc',
      security: 'reality',
      realitySettings: { serverName: 'target.test', publicKey: PUBLIC_KEY },
      grpcSettings: { serviceName: '0123456789abcdef' },
    },
  })
  const singbox = outboundOf(render('singbox', GRPC), NAME)
  expect(singbox).toMatchObject({
    server_port: 443,
    tls: { reality: { enabled: true, public_key: PUBLIC_KEY, short_id: '0123456789abcdef' } },
    transport: { type: 'grpc', service_name: '0123456789abcdef' },
  })
  expect(singbox).not.toHaveProperty('flow')
  expect(render('mihomo', GRPC)).toContain(`
    network: "grpc"
    reality-opts:
      public-key: "${PUBLIC_KEY}"
      short-id: "0123456789abcdef"
    grpc-opts:
      grpc-service-name: "0123456789abcdef"
`)
})

test('gRPC of a node that wants a hybrid key share is told to Mihomo and left out of sing-box', () => {
  const source = { ...GRPC, coreVersion: '26.9.8' }
  expect(render('mihomo', source).split('support-x25519mlkem768: true')).toHaveLength(3)
  expect(render('singbox', source)).not.toContain('gRPC')
})

test('gRPC with a key that no core takes is left out of configs, and without a service name of all', () => {
  for (const format of ['mihomo', 'singbox', 'xray'] as const)
    expect(render(format, { ...GRPC, publicKey: 'no key' })).not.toContain('gRPC')
  const transports = WITH_GRPC.map(({ service_name, ...rest }) => rest)
  expect(render('links', { transports })).not.toContain('gRPC')
})

const HOPS = { hysteriaHop: '20000-30000', hysteriaHopping: true, transports: ALL_TRANSPORTS }
const HY2 = 'Germany · HY2'

test('a link says the ports beside the one, which stays in its place', () => {
  const link = render('links', HOPS).split('\n').at(-1)
  expect(link).toContain('@de1.example.com:8444/?')
  expect(link).toMatch(/&mport=20000-30000#/)
  expect(render('links', HOPS, { wsAndXhttp: false })).toContain('mport=20000-30000')
})

test('each config says them in its own way', () => {
  expect(render('mihomo', HOPS)).toContain('    port: 8444\n    ports: "20000-30000"\n')
  const singbox = outboundOf(render('singbox', HOPS), HY2)
  expect(singbox).toMatchObject({ server: 'de1.example.com', server_ports: ['20000:30000'] })
  expect(singbox).not.toHaveProperty('server_port')
  const finalmask = (source: Source) =>
    outboundOf(render('xray', source), `proxy ${HY2}`).streamSettings.finalmask
  const quicParams = { udpHop: { ports: '20000-30000', interval: 30 } }
  expect(finalmask(HOPS)).toEqual({
    udp: [{ type: 'salamander', settings: { password: 'obfs password' } }],
    quicParams,
  })
  expect(finalmask({ ...HOPS, hysteriaObfsPassword: null })).toEqual({ quicParams })
})

test('a list of a node that does not redirect them is the same as without', () => {
  for (const format of ['links', 'mihomo', 'singbox', 'xray'] as const)
    expect(render(format, { ...HOPS, hysteriaHopping: false })).toBe(
      render(format, { transports: ALL_TRANSPORTS }),
    )
})
