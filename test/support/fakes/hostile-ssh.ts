/** SSH servers that no node should be: what they offer or send is meant to hold up who connects to them. */
import { createServer, type Server, type Socket } from 'node:net'
import ssh2, { type Connection } from 'ssh2'

const text = (value: string) => {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** An unencrypted packet (RFC 4253, section 6). */
function packet(payload: Buffer): Buffer {
  const short = 8 - ((5 + payload.length) % 8)
  const padding = short < 4 ? short + 8 : short
  const head = Buffer.alloc(5)
  head.writeUInt32BE(1 + payload.length + padding)
  head[4] = padding
  return Buffer.concat([head, payload, Buffer.alloc(padding)])
}

const listening = async (server: Server | ssh2.Server): Promise<number> => {
  await new Promise<void>((resolve) => (server as Server).listen(0, '127.0.0.1', resolve))
  return ((server as Server).address() as { port: number }).port
}

export interface HostileServer {
  port: number
  /** What it got to do of its mischief. */
  sent(): number
  close(): void
}

/** SSH_MSG_KEXINIT of a server with one key exchange (RFC 4253, section 7.1). */
const kexInit = (exchange: string) =>
  packet(
    Buffer.concat([
      Buffer.from([20]),
      Buffer.alloc(16),
      ...[
        exchange,
        'ssh-ed25519',
        'aes128-ctr',
        'aes128-ctr',
        'hmac-sha2-256',
        'hmac-sha2-256',
      ].map(text),
      ...['none', 'none', '', ''].map(text),
      Buffer.alloc(5),
    ]),
  )

/** 2^4423 - 1 is prime, and takes seconds to be proven so. */
const PRIME = Buffer.concat([Buffer.from([0x7f]), Buffer.alloc(552, 0xff)])

/**
 * Knows no key exchange but the one whose group the server chooses (RFC 4419), and sends a prime that takes long to look at, whatever it is
 * asked for.
 */
export async function startGroupServer(): Promise<HostileServer> {
  let sent = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write('SSH-2.0-OpenSSH_9.6\r\n')
    socket.write(kexInit('diffie-hellman-group-exchange-sha256'))
    socket.once('data', () => {
      setTimeout(() => {
        if (socket.destroyed) return
        const length = Buffer.alloc(4)
        length.writeUInt32BE(PRIME.length)
        const group = Buffer.concat([Buffer.from([31]), length, PRIME, text('\x02')])
        socket.write(packet(group))
        sent++
      }, 100)
    })
  })
  const port = await listening(server)
  return {
    port,
    sent: () => sent,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** What ssh2 keeps to itself. */
interface Inside {
  _sock: Socket
  _protocol: {
    channelOpenConfirm(recipient: number, sender: number, window: number, packet: number): void
    _packetRW: {
      write: { alloc(n: number): Buffer; allocStart: number; finalize(p: Buffer): Buffer }
    }
    _cipher: { encrypt(p: Buffer): void }
  }
}

/** SSH_MSG_GLOBAL_REQUEST "x" that wants a reply (RFC 4254, section 4). */
const REQUEST = Buffer.from([80, 0, 0, 0, 1, 0x78, 1])

/** Sends a payload as a packet of its own, whatever ssh2 thinks of it. */
function send(client: Connection, payload: Buffer): void {
  const { _protocol: protocol } = client as unknown as Inside
  const { write } = protocol._packetRW
  const bytes = write.alloc(payload.length)
  payload.copy(bytes, write.allocStart)
  protocol._cipher.encrypt(write.finalize(bytes))
}

interface Flood {
  /** The only compression that it knows. */
  compress?: 'none' | 'zlib'
  /** So many bytes are the answer to the first call; what follows comes after it. */
  answerBytes?: number
}

/** Lets everybody in, then asks as fast as it can, and reads no answer. */
export async function startFloodServer(
  hostKey: string,
  { compress = 'none', answerBytes = 0 }: Flood = {},
): Promise<HostileServer> {
  let sent = 0
  const timers = new Set<ReturnType<typeof setInterval>>()
  const flood = (client: Connection) => {
    const { _sock: socket } = client as unknown as Inside
    socket.pause()
    socket.removeAllListeners('data')
    const timer = setInterval(() => {
      if (socket.destroyed) return clearInterval(timer)
      for (let i = 0; i < 2000 && socket.writableLength < 4e6; i++) {
        send(client, REQUEST)
        sent++
      }
    }, 5)
    timers.add(timer)
  }
  const server = new ssh2.Server(
    { hostKeys: [hostKey], algorithms: { compress: [compress] } },
    (client) => {
      client.on('error', () => {})
      client.on('authentication', (context) => context.accept())
      if (answerBytes === 0) client.on('ready', () => flood(client))
      client.on('session', (accept) => {
        accept().on('exec', (begin) => {
          const channel = begin()
          channel.on('close', () => setTimeout(() => flood(client), 300))
          channel.resume()
          channel.write(Buffer.alloc(answerBytes, 'o'), () => {
            channel.exit(0)
            channel.end()
          })
        })
      })
    },
  )
  const port = await listening(server)
  return {
    port,
    sent: () => sent,
    close() {
      for (const timer of timers) clearInterval(timer)
      server.close()
    },
  }
}

interface Mischief {
  /** The answer is sent in pieces of so many bytes. */
  pieceBytes: number
  /** So many requests go with each of them. */
  requests?: number
  answerBytes: number
  /** How much input it takes at a time, as it says (RFC 4254, section 5.1). */
  packetBytes?: number
}

/** Lets everybody in, answers each call in pieces, and reads what it is answered itself. A sound server where it asks for nothing. */
export async function startPiecesServer(
  hostKey: string,
  { pieceBytes, requests = 0, answerBytes, packetBytes }: Mischief,
): Promise<HostileServer> {
  let sent = 0
  const timers = new Set<ReturnType<typeof setInterval>>()
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    client.on('error', () => {})
    client.on('authentication', (context) => context.accept())
    const { _sock: socket, _protocol: protocol } = client as unknown as Inside
    socket.setNoDelay(true)
    if (packetBytes !== undefined) {
      const confirm = protocol.channelOpenConfirm.bind(protocol)
      protocol.channelOpenConfirm = (...[recipient, sender, window]) =>
        confirm(recipient, sender, window, packetBytes)
    }
    client.on('session', (accept) => {
      accept().on('exec', (begin) => {
        const channel = begin()
        const piece = Buffer.alloc(pieceBytes, 'o')
        const batch = requests > 0 ? 100 : 1000
        let left = answerBytes
        channel.resume()
        const isFull = () => socket.writableLength > 1e6 || channel.writableNeedDrain
        const sendPiece = () => {
          channel.write(piece.subarray(0, left))
          left -= pieceBytes
          for (let n = 0; n < requests; n++) send(client, REQUEST)
          sent += requests
        }
        const sendSome = () => {
          for (let i = 0; i < batch && left > 0 && !isFull(); i++) sendPiece()
          if (left > 0 && !socket.destroyed) return
          clearInterval(timer)
          channel.exit(0)
          channel.end()
        }
        const timer = setInterval(sendSome, 2)
        timers.add(timer)
        sendSome()
      })
    })
  })
  const port = await listening(server)
  return {
    port,
    sent: () => sent,
    close() {
      for (const timer of timers) clearInterval(timer)
      server.close()
    },
  }
}

const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** SSH_MSG_CHANNEL_EOF, and SSH_MSG_CHANNEL_EXTENDED_DATA of stderr (RFC 4254, sections 5.2 and 5.3). */
const end = (channel: number) => Buffer.concat([Buffer.from([96]), number(channel)])
const complaint = (channel: number) =>
  Buffer.concat([Buffer.from([95]), number(channel), number(1), text('more')])

/** Lets everybody in, and says more of each command after its own word that nothing more comes: before it begins, or behind its answer. */
export async function startTalkativeServer(
  hostKey: string,
  when: 'before' | 'behind',
): Promise<HostileServer> {
  let sent = 0
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    client.on('error', () => {})
    client.on('authentication', (context) => context.accept())
    const { _protocol: protocol } = client as unknown as Inside
    let channel = 0
    const confirm = protocol.channelOpenConfirm.bind(protocol)
    protocol.channelOpenConfirm = (...words) => {
      channel = words[0]
      confirm(...words)
    }
    const talk = () => {
      send(client, end(channel))
      send(client, complaint(channel))
      sent++
    }
    client.on('session', (accept) => {
      accept().on('exec', (begin) => {
        if (when === 'behind') return begin().write('answer', talk)
        talk()
        setTimeout(begin, 100)
      })
    })
  })
  const port = await listening(server)
  return { port, sent: () => sent, close: () => server.close() }
}
