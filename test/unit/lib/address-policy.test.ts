import { describe, expect, test } from 'vitest'
import { isAllowedAddress, literalAddress } from '#src/lib/address-policy.ts'

const NEVER = [
  ...['0.0.0.0', '0.1.2.3', '169.254.0.1', '169.254.169.254', '224.0.0.1', '239.255.255.255'],
  ...['240.0.0.1', '255.255.255.255', '100.100.100.200', '192.0.0.192', '168.63.129.16'],
  ...['::', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'ff02::1', 'fd00:ec2::254', 'fd20:ce::254'],
  ...['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '::169.254.169.254', '::ffff:0:a9fe:a9fe'],
  ...['64:ff9b::169.254.169.254', '64:ff9b::a9fe:a9fe', '64:ff9b:1::a9fe:a9fe'],
  ...['2002:a9fe:a9fe::1', '2001:0:1234::5601:5601', '::ffff:0.0.0.0', '::ffff:224.0.0.1'],
  ...['', 'hook.test', '1.2.3', '1.2.3.4.5', '256.1.1.1', '1.2.3.4/8', '::g', '0x7f.0.0.1'],
]
const PRIVATE = [
  ...['127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['100.64.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '192.0.0.1'],
  ...['::1', 'fc00::1', 'fd12:3456::1', 'fec0::1', '2001:db8::1', '100::1'],
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '64:ff9b::10.0.0.1', '::127.0.0.1'],
  ...['2002:7f00:1::', '2002:c0a8:101::1', '64:ff9b:1::1.1.1.1', '2001:0:1234::80ff:fffe'],
]
const PUBLIC = [
  ...['1.1.1.1', '8.8.8.8', '172.15.0.1', '172.32.0.1', '100.63.0.1', '100.128.0.1'],
  ...['169.253.0.1', '223.255.255.255', '2606:4700::1111', '2a02:5180::1', '64:ff9b::8.8.8.8'],
  ...['::ffff:8.8.8.8', '2002:808:808::1', '2001:4860:4860::8888'],
]

describe('an address', () => {
  test.each(NEVER)('is never allowed: %j', (address) => {
    expect([isAllowedAddress(address, false), isAllowedAddress(address, true)]).toEqual([
      false,
      false,
    ])
  })
  test.each(PRIVATE)('is allowed unless private ones are denied: %s', (address) => {
    expect([isAllowedAddress(address, false), isAllowedAddress(address, true)]).toEqual([
      true,
      false,
    ])
  })
  test.each(PUBLIC)('is allowed always: %s', (address) => {
    expect([isAllowedAddress(address, false), isAllowedAddress(address, true)]).toEqual([
      true,
      true,
    ])
  })
})

test.each([
  ['http://127.1/', '127.0.0.1'],
  ['http://0x7f000001/', '127.0.0.1'],
  ['http://2130706433/', '127.0.0.1'],
  ['http://0177.0.0.1/', '127.0.0.1'],
  ['http://[::FFFF:127.0.0.1]/', '::ffff:7f00:1'],
  ['http://１２７.0.0.1/', '127.0.0.1'],
  ['http://127.0.0.1.nip.io/', null],
  ['https://hook.test/', null],
])('%s names the address %s', (url, address) => {
  expect(literalAddress(new URL(url))).toBe(address)
})
