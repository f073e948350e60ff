import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { unlessAborted } from '../../src/net/cancellation.ts'

describe('unlessAborted', () => {
  it('leaves no failure unhandled, whether the signal has aborted before or aborts later', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const failing = () => pause(5).then(() => Promise.reject(new Error('late')))
    await expect(unlessAborted(failing(), AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' })
    const controller = new AbortController()
    await expect(unlessAborted(failing(), new AbortController() as unknown as AbortSignal)).rejects.toThrow(TypeError)
    const later = unlessAborted(failing(), controller.signal)
    controller.abort()
    await expect(later).rejects.toMatchObject({ code: 'ABORTED' })
    await pause(20)
    expect(unhandled).toEqual([])
  })

  it('gives what the promise gives as long as nothing aborts', async () => {
    const { signal } = new AbortController()
    expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1)
    await expect(unlessAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
  })
})
