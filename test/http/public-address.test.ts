import { BlockList, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLoopbackHost, isPublicAddress, isPublicHost } from '../../src/http/url.ts'
import { caseCount } from '../harness/case-count.ts'

describe('isPublicHost', () => {
  it.each([
    ['localhost', 'name'],
    ['LOCALHOST', 'name, upper case'],
    ['localhost.', 'name, rooted'],
    ['a.localhost', 'below localhost'],
    ['printer.local', 'mDNS'],
    ['local', 'mDNS itself'],
    ['metadata.google.internal', 'internal'],
    ['internal', 'internal itself'],
    ['', 'nothing'],
    ['0.0.0.0', 'this network'],
    ['0.255.255.255', 'this network'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['100.64.0.1', 'shared'],
    ['100.127.255.255', 'shared'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['168.63.129.16', 'services of Azure'],
    ['[::ffff:168.63.129.16]', 'services of Azure, mapped'],
    ['[64:ff9b::a83f:8110]', 'services of Azure, NAT64'],
    ['100.100.100.200', 'metadata service of Alibaba Cloud'],
    ['[fd00:ec2::254]', 'metadata service of AWS'],
    ['[fd20:ce::254]', 'metadata service of Google Cloud'],
    ['192.31.196.1', 'AS112'],
    ['192.52.193.1', 'AMT'],
    ['192.175.48.1', 'AS112'],
    ['[2620:4f:8000::1]', 'AS112'],
    ['[5f00::1]', 'segment routing'],
    ['169.254.169.254', 'link-local, metadata services'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.192', 'protocol assignments'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', '6to4 relay'],
    ['192.168.1.1', 'private'],
    ['198.18.0.1', 'benchmarks'],
    ['198.19.255.255', 'benchmarks'],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.7', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['[::]', 'unspecified'],
    ['[::1]', 'loopback'],
    ['[::7f00:1]', 'compatible'],
    ['[::808:808]', 'compatible, of a public address'],
    ['[::ffff:7f00:1]', 'mapped loopback'],
    ['[::ffff:a9fe:a9fe]', 'mapped link-local'],
    ['[64:ff9b::a9fe:a9fe]', 'NAT64 of link-local'],
    ['[64:ff9b::a00:1]', 'NAT64 of private'],
    ['[64:ff9b:1::1]', 'NAT64 for local use'],
    ['[fd00:ff9b::808:808]', 'unique local, with the second group of NAT64'],
    ['[64:ff9c::808:808]', 'not NAT64'],
    ['[64:ff9b::1:808:808]', 'outside the prefix of NAT64'],
    ['[::1:ffff:808:808]', 'not mapped'],
    ['[0:0:1::ffff:808:808]', 'not mapped'],
    ['[0:0:0:1:0:ffff:808:808]', 'not mapped'],
    ['[0:1::ffff:808:808]', 'not mapped'],
    ['[1::ffff:808:808]', 'not mapped'],
    ['[1fff:ffff::1]', 'below the public block'],
    ['[64:ff9b:0:1::808:808]', 'outside the prefix of NAT64'],
    ['[100::1]', 'discard'],
    ['[2001::1]', 'Teredo'],
    ['[2001:db8::1]', 'documentation'],
    ['[2002:7f00:1::]', '6to4 of loopback'],
    ['[2002:c0a8:101::1]', '6to4 of private'],
    ['[3fff:abc::1]', 'documentation'],
    ['[4000::1]', 'unassigned'],
    ['[fc00::1]', 'unique local'],
    ['[fd12:3456::1]', 'unique local'],
    ['[fe80::1]', 'link-local'],
    ['[fec0::1]', 'site-local'],
    ['[ff02::1]', 'multicast'],
  ])('refuses %s (%s)', (hostname) => expect(isPublicHost(hostname)).toBe(false))

  it.each([
    'data.example',
    'localhost.example',
    'mylocalhost',
    'internal.example',
    'notlocal',
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '168.63.129.17',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '[2606:4700::1111]',
    '[2001:200::1]',
    '[2620:4f:8001::1]',
    '[2620:50:8000::1]',
    '[2621:4f:8000::1]',
    '[::ffff:808:808]',
    '[64:ff9b::808:808]',
    '[2002:808:808::]',
    '[2000::1]',
    '[3fff:ffff::1]',
    '[2606:1:2:3:4:5:6::]',
    '[2606:ffff:ffff:ffff:ffff:ffff:ffff:ffff]',
  ])('accepts %s', (hostname) => expect(isPublicHost(hostname)).toBe(true))

  it.each([
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://１２７.０.０.１/',
    'https://[::127.0.0.1]/',
  ])('sees through the spelling of %s', (url) => expect(isPublicHost(new URL(url).hostname)).toBe(false))
})

describe('isPublicAddress', () => {
  it.each([
    '',
    'data.example',
    '256.1.1.1',
    '1.2.3',
    '01.2.3.4.5',
    '::1::',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '2606::12345',
    'g::1',
    '2606:4700:',
    '2606:4700::1::2',
    '2606::1:2:3:4:5:6:7',
    '2606::g',
    'x2606::1',
    '2606:4700::1x',
    '2606::-1',
    '2606:+1::1',
    '2606::0x1',
    '26061::1',
    '2606::1.2.3.256',
    '2606:12345::1',
  ])('isPublicAddress is false for %j, which is no address', (text) => expect(isPublicAddress(text)).toBe(false))

  it('reads dotted tails and zones', () => {
    expect(isPublicAddress('::ffff:169.254.169.254')).toBe(false)
    expect(isPublicAddress('::ffff:8.8.8.8')).toBe(true)
    expect(isPublicAddress('fe80::1%eth0')).toBe(false)
    expect(isPublicAddress('2606:4700::1111%eth0')).toBe(true)
    expect(isPublicAddress('2606:4700::1111%a\nb')).toBe(true)
    expect(isPublicAddress('::ffff:255.255.8.8')).toBe(false)
    expect(isPublicAddress('::ffff:8.8.255.255')).toBe(true)
    expect(isPublicAddress('::ffff:10.8.8.8')).toBe(false)
  })

  it('agrees with the block list of the platform', () => {
    fc.assert(
      fc.property(address, (ip) => {
        expect(isPublicAddress(ip), ip).toBe(publicByBlockList(ip))
      }),
      { numRuns: caseCount(20_000, 1_000) },
    )
  })
})

describe('isLoopbackHost', () => {
  it.each(['localhost', 'LocalHost', 'localhost.', 'a.b.localhost', '127.0.0.1', '127.8.9.1', '[::1]'])(
    'isLoopbackHost is true for %s',
    (hostname) => expect(isLoopbackHost(hostname)).toBe(true),
  )
  it.each(['localhost.example', 'xlocalhost', '127.example', '128.0.0.1', '[::2]', '10.0.0.1', ''])(
    'isLoopbackHost is false for %j',
    (hostname) => expect(isLoopbackHost(hostname)).toBe(false),
  )
})

/** Second implementation: subnets of `node:net`, IPv4 carriers unwrapped by text. */
function publicByBlockList(ip: string): boolean {
  if (isIPv4(ip)) return !V4.check(ip)
  const groups = ip.split(':')
  const dotted = (high = '', low = '') => {
    const value = `${high.padStart(4, '0')}${low.padStart(4, '0')}`
    return (value.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)).join('.')
  }
  if (MAPPED.check(ip, 'ipv6')) return publicByBlockList(dotted(groups[6], groups[7]))
  if (SIX_TO_FOUR.check(ip, 'ipv6')) return publicByBlockList(dotted(groups[1], groups[2]))
  return GLOBAL.check(ip, 'ipv6') && !V6.check(ip, 'ipv6')
}

function blockList(...subnets: readonly string[]): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [ip = '', bits] = subnet.split('/')
    list.addSubnet(ip, Number(bits), ip.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}

const V4 = blockList(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24'],
  ...['168.63.129.16/32', '192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
)
const MAPPED = blockList('::ffff:0:0/96', '64:ff9b::/96')
const SIX_TO_FOUR = blockList('2002::/16')
const GLOBAL = blockList('2000::/3')
const V6 = blockList('2001::/23', '2001:db8::/32', '3fff::/20', '2620:4f:8000::/48')

const byte = fc.nat(255)
const group = fc.oneof(fc.nat(0xffff), fc.constantFrom(0, 1, 0xffff, 0xdb8, 0x1ff, 0x200, 0xfff, 0x1000, 0x7f00, 0xa9fe, 0xc0a8))
const firstV4 = fc.oneof(byte, fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 198, 203, 224, 240))
const secondV4 = fc.oneof(byte, fc.constantFrom(0, 15, 16, 18, 19, 31, 32, 51, 63, 64, 88, 127, 128, 168, 254))
const firstV6 = fc.oneof(group, fc.constantFrom(0x64, 0x100, 0x2000, 0x2001, 0x2002, 0x2606, 0x3fff, 0x4000, 0xfc00, 0xfe80, 0xff02))
const v4 = fc.tuple(firstV4, secondV4, fc.oneof(byte, fc.constantFrom(0, 2, 99, 100, 113)), byte).map((parts) => parts.join('.'))
const hexGroups = (groups: readonly number[]) => groups.map((value) => value.toString(16)).join(':')
const v6 = fc.tuple(firstV6, group, group, group, group, group, group, group).map(hexGroups)
const carrier = fc.constantFrom([0, 0, 0, 0, 0, 0xffff], [0x64, 0xff9b, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0])
const carried = fc.tuple(carrier, group, group).map(([prefix, high, low]) => hexGroups([...prefix, high, low]))
const address = fc.oneof(v4, v6, carried)

it.each([
  ['::ffff:203.0.113.1', false],
  ['::ffff:1.1.1.1', true],
  ['2606:4700::1111', true],
  ['2606:4700::00001111', false],
])('the IP address %s is public: %s', (literal, isPublic) => {
  expect(isPublicAddress(literal)).toBe(isPublic)
})
