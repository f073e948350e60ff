import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { retryRefusals } from '../../../src/node/queue/job-queue.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const reply = (text: string) => Object.assign(new Error(text), { name: 'ReplyError' })

function started() {
  const [pause, resume, tell] = [vi.fn(async () => {}), vi.fn(async () => {}), vi.fn()]
  const worker = Object.assign(new EventEmitter(), { pause, resume })
  const stop = retryRefusals(worker as never, tell)
  return { worker, pause, resume, tell, stop }
}

it('a worker whose server refuses commands says each reason once, and tries again after a pause', () => {
  const { worker, pause, resume, tell } = started()
  for (let times = 0; times < 3; times++) {
    worker.emit('error', reply('OOM command not allowed'))
    vi.advanceTimersByTime(2000)
  }
  expect(pause.mock.calls).toEqual([[true], [true], [true]])
  expect(resume).toHaveBeenCalledTimes(3)
  expect(tell).toHaveBeenCalledTimes(1)
  worker.emit('error', reply('READONLY You cannot write'))
  vi.advanceTimersByTime(2000)
  expect(tell).toHaveBeenCalledTimes(2)
  worker.emit('active')
  worker.emit('error', reply('READONLY You cannot write'))
  expect(tell).toHaveBeenCalledTimes(3)
})

it.each([
  ['an error that the server has not sent', new Error('Missing lock for job 1')],
  ['the end of a wait', reply('UNBLOCKED force unblock from blocking operation')],
])('a worker does not pause for %s', (_what, error) => {
  const { worker, pause, tell } = started()
  worker.emit('error', error)
  expect([pause.mock.calls, tell.mock.calls]).toEqual([[], []])
})

it('a worker that ends does not resume', () => {
  const { worker, resume, stop } = started()
  worker.emit('error', reply('OOM command not allowed'))
  stop()
  vi.advanceTimersByTime(10_000)
  expect(resume).not.toHaveBeenCalled()
})
