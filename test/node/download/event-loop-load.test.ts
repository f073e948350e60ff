import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { EventLoopLoad } from '../../../src/node/download/shared-body.ts'

const never = new Promise<void>(() => undefined)

/** Keeps this thread busy nearly all the time; gives what ends that. */
function busyThread(): () => void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  let isOn = true
  const work = () => {
    Atomics.wait(cell, 0, 0, 20)
    if (isOn) setImmediate(work)
  }
  work()
  return () => {
    isOn = false
  }
}

it('grants one request after another while the thread is idle', async () => {
  const spare = new EventLoopLoad()
  const order: string[] = []
  const taken = ['one', 'two', 'three'].map((name) => spare.untilIdle(never).then(() => order.push(name)))
  await Promise.any(taken)
  expect(order).toHaveLength(1)
  await Promise.all(taken)
  expect(order).toHaveLength(3)
  expect(spare.isIdle()).toBe(true)
})

it('grants nothing while the thread is busy, and continues as soon as it is idle', async () => {
  const rest = busyThread()
  try {
    const spare = new EventLoopLoad()
    let hasCome = false
    const coming = spare.untilIdle(never).then(() => {
      hasCome = true
    })
    await pause(500)
    expect([hasCome, spare.isIdle()]).toEqual([false, false])
    rest()
    await coming
    expect(spare.isIdle()).toBe(true)
  } finally {
    rest()
  }
})

it('waits no longer than the timeout', async () => {
  const rest = busyThread()
  try {
    expect(await new EventLoopLoad().untilIdle(pause(50))).toBe(false)
  } finally {
    rest()
  }
})
