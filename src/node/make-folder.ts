import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode } from './system-error.ts'

/**
 * Makes a folder and what is missing above it; one that is there stays as it is. Step by step: the recursive `mkdir` of Node never
 * ends where a file system has no room for new folders and calls them missing, as `/proc` does. Errors: those of `mkdir`.
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    const code = systemCode(error)
    if (code === 'EEXIST') return
    const above = dirname(path)
    if (code !== 'ENOENT' || above === path) throw error
    await makeFolder(above, mode)
    await mkdir(path, { mode }).catch((again) => {
      if (systemCode(again) !== 'EEXIST') throw again
    })
  }
}
