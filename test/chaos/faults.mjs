/**
 * Faults of the machine for one process: `node --import faults.mjs`. `CHAOS` says which, as JSON: `{ "disk": { "code": "ENOSPC", "share": 0.2,
 * "seed": 1, "from": 3 } }` fails that share of the operations that create, write, sync or rename a file, from the third one on;
 * `{ "clock": { "after": 200, "by": -3600000 } }` moves the clock after so many milliseconds.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { disk, clock } = JSON.parse(process.env.CHAOS ?? '{}')

if (disk) failDisk(disk)
if (clock) moveClock(clock)

function failDisk({ code, share, seed, from = 0 }) {
  let state = seed | 1
  let count = 0
  const random = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  const failure = (call) => Object.assign(new Error(`${code}: not now, ${call}`), { code, errno: -28, syscall: call })
  const fails = () => count++ >= from && random() < share
  const isForWriting = (flags) =>
    typeof flags === 'number' ? (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0 : /[wa+]/.test(String(flags ?? 'r'))
  // The standard streams are no files of the disk.
  const concerns = (name, [first, flags]) => (name.startsWith('open') ? isForWriting(flags) : typeof first !== 'number' || first > 2)
  const names = ['open', 'write', 'writev', 'writeFile', 'appendFile', 'fsync', 'fdatasync', 'rename', 'link', 'mkdir']
  for (const name of names) {
    replace(fs, name, (original) => (...given) => {
      const done = given.at(-1)
      if (!concerns(name, given) || !fails()) return original.apply(fs, given)
      if (typeof done === 'function') process.nextTick(done, failure(name))
    })
    replace(fs, `${name}Sync`, (original) => (...given) => {
      if (concerns(name, given) && fails()) throw failure(name)
      return original.apply(fs, given)
    })
    replace(fs.promises, name, (original) => async (...given) => {
      if (concerns(name, given) && fails()) throw failure(name)
      const result = await original.apply(fs.promises, given)
      return name === 'open' ? brokenHandle(result, given[1], fails, failure) : result
    })
  }
  syncBuiltinESMExports()

  function brokenHandle(handle, flags) {
    if (!isForWriting(flags)) return handle
    for (const name of ['write', 'writev', 'writeFile', 'appendFile', 'sync', 'datasync', 'truncate']) {
      const original = handle[name]
      handle[name] = async (...given) => {
        if (fails()) throw failure(name)
        return original.apply(handle, given)
      }
    }
    return handle
  }
}

function replace(holder, name, by) {
  const original = holder[name]
  if (typeof original === 'function') holder[name] = Object.assign(by(original), original)
}

function moveClock({ after, by }) {
  const real = Date.now
  const start = real()
  const moved = () => (real() - start > after ? by : 0)
  const now = () => real() + moved()
  globalThis.Date = class extends Date {
    constructor(...given) {
      if (given.length === 0) super(now())
      else super(...given)
    }
    static now() {
      return now()
    }
  }
}
