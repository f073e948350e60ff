#!/usr/bin/env node
/** The program. Nothing is imported statically, so that a failure to load a module can be reported. */
const [{ processIo, write }, { main }] = await Promise.all([import('./io.ts'), import('./main.ts')]).catch(endWithoutModules)

// Each download into a bucket would advise the user to install another Node. That is up to us.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
const io = processIo()
const exitCode = await main(process.argv.slice(2), io)
await Promise.allSettled([write(io.stdout, ''), write(io.stderr, '')])
if (io.signal.aborted && ((await isKeyringWaiting()) || !(await isReadToEnd()))) endBySignal(io.signal.reason)
process.exit(exitCode)

/** Reports that the open file limit is reached, without any module. */
function endWithoutModules(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EMFILE' && error.code !== 'ENFILE') throw error
  const message = `cannot load stac-auth: too many open files (${error.code})`
  const hint = 'raise the limit, for example with ulimit -n 1024'
  const isJson = process.argv.includes('--json')
  process.stderr.write(
    isJson ? `${JSON.stringify({ code: 'FILE_ACCESS', message, hint, retryable: true })}\n` : `error FILE_ACCESS: ${message}\n  ${hint}\n`,
  )
  process.exit(6)
}

/** Returns false if file reads are still pending after 200 ms, as for a pipe without a writer. */
async function isReadToEnd(): Promise<boolean> {
  const isReading = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))
  for (let moment = 0; moment < 20 && isReading(); moment++) await new Promise((resolve) => setTimeout(resolve, 10))
  return !isReading()
}

/** Returns true while the keyring waits for a person who unlocks it. */
async function isKeyringWaiting(): Promise<boolean> {
  const keyring = await import('../node/credentials/index.ts').catch(() => undefined)
  return keyring?.isKeyringWaiting() ?? false
}

/** Ends the process with the signal: `process.exit` would wait for pending reads and for the keyring. SIGHUP ends like SIGTERM. */
function endBySignal(reason: unknown): void {
  const signal = reason === 'SIGINT' ? 'SIGINT' : 'SIGTERM'
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}
