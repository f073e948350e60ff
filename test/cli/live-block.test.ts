import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { LiveBlock } from '../../src/cli/live-block.ts'

function blockOn({
  isTTY = true,
  env = { TERM: 'xterm' },
  ...size
}: {
  isTTY?: boolean
  env?: Record<string, string>
  columns?: number
  rows?: number
}) {
  const stream = new PassThrough()
  const stderr = Object.assign(stream, { isTTY, ...size })
  const block = new LiveBlock({ env, stderr })
  return { block, written: () => String(stream.read() ?? '') }
}

describe('LiveBlock', () => {
  it('writes over what it has shown', () => {
    const { block, written } = blockOn({})
    block.show(['one', 'two'])
    expect(written()).toBe('\rone\x1b[K\ntwo\x1b[K\x1b[J')
    block.show(['three'])
    expect(written()).toBe('\r\x1b[1Athree\x1b[K\x1b[J')
    block.clear()
    expect(written()).toBe('\r\x1b[J')
    block.clear()
    expect(written()).toBe('')
  })

  it('shows no more than the screen holds, and one line of it stays free', () => {
    const { block, written } = blockOn({ columns: 60, rows: 3 })
    expect([block.width, block.height]).toEqual([59, 2])
    block.show(['one', 'two', 'three'])
    expect(written()).not.toContain('three')
    expect(blockOn({ columns: 0, rows: 0 }).block).toMatchObject({ width: 79, height: 23 })
  })

  it('makes do with one line where escapes are not wanted', () => {
    const { block, written } = blockOn({ env: { TERM: 'xterm', NO_COLOR: '1' } })
    block.show(['first line', 'second'])
    block.show(['short'])
    block.clear()
    expect(written()).toBe('\rfirst line\rshort     \r     \r')
  })

  it.each([[{ isTTY: false }], [{ env: { TERM: 'dumb' } }]])('shows nothing with %j', (around) => {
    const { block, written } = blockOn(around)
    block.show(['one'])
    block.clear()
    expect([block.isOn, written()]).toEqual([false, ''])
  })
})
