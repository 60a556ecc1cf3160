import { describe, expect, test } from 'vitest'
import {
  attemptKey,
  inNetworks,
  LOOPBACK,
  type Network,
  networkKey,
  PRIVATE,
  parseIp,
  parseNetwork,
  spansOf,
} from '#src/lib/ip.ts'

const address = (text: string): bigint => {
  const value = parseIp(text)
  if (value === null) throw new Error(`no address: ${text}`)
  return value
}

describe('parseIp', () => {
  // RFC 4291 section 2.2, RFC 5952 section 4: spellings of one address.
  test.each([
    ['2001:db8::1', ['2001:DB8:0:0:0:0:0:1', '2001:0db8:0000:0000:0000:0000:0000:0001']],
    ['::', ['0:0:0:0:0:0:0:0', '0::', '::0', '0::0']],
    ['::1', ['0:0:0:0:0:0:0:1']],
    ['1::', ['1:0:0:0:0:0:0:0', '1:0:0:0:0:0:0::']],
    ['1.2.3.4', ['::ffff:1.2.3.4', '::FFFF:102:304', '0:0:0:0:0:ffff:1.2.3.4']],
    ['fe80::1', ['fe80::1%eth0', 'fe80:0::0:1%25x']],
    ['64:ff9b::1.2.3.4', ['64:ff9b::102:304']],
  ])('reads %s and its other spellings alike', (text, others) => {
    for (const other of others) expect(parseIp(other), other).toBe(address(text))
  })

  test.each([
    ...['', ' ', '1.2.3', '1.2.3.4.5', '1.2.3.256', '1.2.3.', '.1.2.3', '1.2.3.4 ', '1.2.3.-4'],
    ...['0x1.2.3.4', '1e1.2.3.4', '1.2.3.1234', ':', ':::', '1::2::3', '1:2:3:4:5:6:7', '12345::'],
    ...[
      '1:2:3:4:5:6:7:8:9',
      '1:2:3:4:5:6:7::8',
      'g::',
      '::1.2.3',
      '::1.2.3.256',
      '1.2.3.4::',
      '::1 ',
    ],
    ...['localhost', '[::1]', '::ffff:1.2.3.4.5', '1:2:3:4:5:6:7:1.2.3.4'],
  ])('refuses %j', (text) => {
    expect(parseIp(text)).toBeNull()
  })
})

describe('networks', () => {
  const within = (ip: string, ...cidrs: string[]) =>
    inNetworks(address(ip), cidrs.map(parseNetwork) as Network[])

  test.each([
    ['10.0.0.0/8', '10.255.255.255', '11.0.0.0'],
    ['192.0.2.128/25', '192.0.2.255', '192.0.2.127'],
    ['192.0.2.7', '192.0.2.7', '192.0.2.8'],
    ['192.0.2.7/32', '::ffff:192.0.2.7', '192.0.2.6'],
    ['2001:db8::/32', '2001:db8:ffff::1', '2001:db9::'],
    ['2001:db8::1', '2001:db8::1', '2001:db8::2'],
    ['fc00::/7', 'fdff::1', 'fe00::'],
    ['::ffff:10.0.0.0/104', '10.1.2.3', '11.0.0.0'],
  ])('%s holds %s and not %s', (cidr, inside, outside) => {
    expect(within(inside, cidr)).toBe(true)
    expect(within(outside, cidr)).toBe(false)
  })

  test('0.0.0.0/0 is all of IPv4 and nothing of IPv6; ::/0 is everything', () => {
    expect(within('203.0.113.1', '0.0.0.0/0')).toBe(true)
    expect(within('2001:db8::1', '0.0.0.0/0')).toBe(false)
    expect(within('2001:db8::1', '::/0')).toBe(true)
    expect(within('203.0.113.1', '::/0')).toBe(true)
  })

  test.each([
    ...['', '/8', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0/8', '::/129'],
    ...['10.0.0.0/a', '10.0.0.0/08888', 'example.com', '10.0.0.0 /8'],
  ])('%j is no network', (text) => {
    expect(parseNetwork(text)).toBeNull()
  })

  test.each([
    ['127.0.0.1', true, false],
    ['127.255.255.254', true, false],
    ['::1', true, false],
    ['::2', false, false],
    ['10.0.0.1', false, true],
    ['172.15.255.255', false, false],
    ['172.16.0.0', false, true],
    ['172.31.255.255', false, true],
    ['172.32.0.0', false, false],
    ['192.168.1.1', false, true],
    ['192.169.0.0', false, false],
    ['fd00::1', false, true],
    ['fe80::1', false, true],
    ['febf::1', false, true],
    ['fec0::1', false, false],
    ['169.254.1.1', false, false],
    ['100.64.0.1', false, false],
    ['8.8.8.8', false, false],
  ])('%s: loopback %s, private %s', (ip, loopback, isPrivate) => {
    expect(inNetworks(address(ip), LOOPBACK)).toBe(loopback)
    expect(inNetworks(address(ip), PRIVATE)).toBe(isPrivate)
  })
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['192.0.2.001', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '20010db800010002::/64'],
  ['2001:0DB8:1:2::', '20010db800010002::/64'],
  ['fe80::1%eth0', 'fe80000000000000::/64'],
  ['::1', '0000000000000000::/64'],
  ['unknown', 'unknown'],
  ['', ''],
  ['not an ip', 'not an ip'],
])('attempts of %s are counted by %s', (ip, key) => {
  expect(attemptKey(ip)).toBe(key)
})

test.each([
  ['192.0.2.1', '192.0.2.0/24'],
  ['::ffff:192.0.2.77', '192.0.2.0/24'],
  ['192.0.3.1', '192.0.3.0/24'],
  ['2001:db8:1:2:3:4:5:6', '20010db80001::/48'],
  ['2001:db8:1:ffff::', '20010db80001::/48'],
  ['2001:db8:2::1', '20010db80002::/48'],
  ['::1', '000000000000::/48'],
  ['unknown', 'unknown'],
])('the network around %s is %s', (ip, key) => {
  expect(networkKey(ip)).toBe(key)
})

describe('spansOf', () => {
  const covers = (ip: string, text: string) =>
    spansOf(ip).some(({ from, to }) => text >= from && text <= to)
  /** As RFC 5952 has it, by the runtime's own writer. */
  const written = (groups: string[]) =>
    new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1)

  test('of an IPv6 address has all of its /64, wherever zeros are left out', () => {
    for (let bits = 0; bits < 256; bits++) {
      const own = Array.from({ length: 8 }, (_, at) => (bits & (1 << at) ? `a${at}` : '0'))
      const text = written(own)
      for (let tail = 0; tail < 16; tail++) {
        const other = own.map((group, at) =>
          at < 4 ? group : tail & (1 << (at - 4)) ? `b${at}` : '0',
        )
        expect(covers(text, written(other)), `${text} ${written(other)}`).toBe(true)
      }
    }
    expect(covers('2001:db8:1:2::1', '2001:db8:1:2:0:0:0:9')).toBe(true)
    expect(covers('2001:db8:1:2::1', '2001:db8:1:20::1')).toBe(false)
    expect(covers('2001:db8:1:2::1', '2001:db8:1:3::1')).toBe(false)
  })

  test.each([
    ['192.0.2.7', '::ffff:192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['192.0.2.7', '::ffff:c000:207'],
    ['192.0.2.007', '192.0.2.007'],
    ['192.0.2.007', '192.0.2.7'],
    ['2001:0DB8::1', '2001:0DB8::1'],
    ['unknown', 'unknown'],
  ])('of %s has %s', (ip, text) => {
    expect(covers(ip, text)).toBe(true)
    expect(spansOf(ip)[0]).toEqual({ from: ip, to: ip })
  })

  test.each([
    ['192.0.2.7', '192.0.2.70'],
    ['192.0.2.7', '192.0.2.8'],
    ['unknown', '192.0.2.7'],
  ])('of %s has not %s', (ip, text) => expect(covers(ip, text)).toBe(false))
})
