import { expect, test } from 'vitest'
import { addressOf, hostNameOf } from '#src/lib/host-name.ts'

test.each([
  ['example.org', 'example.org'],
  ['EXAMPLE.org.', 'example.org'],
  ['localhost', 'localhost'],
  ['a-b.1c', 'a-b.1c'],
  ['1.2.3.4a', '1.2.3.4a'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['Bücher.example', 'xn--bcher-kva.example'],
  ['пример.рф', 'xn--e1afmkfd.xn--p1ai'],
  [`${'a'.repeat(63)}.test`, `${'a'.repeat(63)}.test`],
])('%s is the host name %s', (text, name) => {
  expect(hostNameOf(text)).toBe(name)
  expect(addressOf(text)).toBe(name)
})

test.each([
  ...[
    '',
    '.',
    '-',
    'a..b',
    '-a',
    'a-',
    'a.-b',
    'a_b',
    'a b',
    'a\tb',
    'a\nb',
    ' a',
    'a:1',
    'a/b',
    'a@b',
    'a?b',
  ],
  ...[
    'a#b',
    'a%41',
    "a'b",
    'a"b',
    'a$b',
    'a`b',
    'a;b',
    'a\\b',
    '1',
    '1.2.3',
    '0x7f',
    'a.0x1',
    'a.1',
    '*.a',
  ],
  ...['ü/x', 'ü b', 'ü%20', 'ü@x', 'ü:80', '\u202ea', 'a\u0000', `${'a'.repeat(64)}.test`],
  ...[`${'a.'.repeat(127)}a`, '１.２.３.４', '☃…'],
])('%j is no host name', (text) => {
  expect(hostNameOf(text)).toBeNull()
})

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:DB8::7', '2001:db8::7'],
  ['[2001:db8::7]', '2001:db8::7'],
  ['::ffff:1.2.3.4', '::ffff:1.2.3.4'],
])('%s is the address %s', (text, address) => {
  expect(addressOf(text)).toBe(address)
  expect(hostNameOf(text)).toBeNull()
})

test.each([
  '256.1.1.1',
  '1.2.3',
  '[::1',
  '::1]',
  '[example.org]',
  'fe80::1%eth0',
  '1.2.3.4:22',
  '1.2.3.4/8',
])('%s is no address', (text) => {
  expect(addressOf(text)).toBeNull()
})
