import { join } from 'node:path'
import { build } from 'esbuild'
import { root } from '../architecture/files.ts'

/** The script for a page or worker, in one file: what is loaded on demand is in it. */
export async function scriptOf(entry: string, { minify = false } = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, entry)],
    alias: {
      '#platform': join(root, 'src/platform/web.ts'),
      'stac-auth/adapters': join(root, 'src/adapters'),
      'stac-auth/browser': join(root, 'src/browser/index.ts'),
      'stac-auth/strategies': join(root, 'src/strategies/index.ts'),
      'stac-auth': join(root, 'src/index.ts'),
    },
    resolveExtensions: ['.ts', '.js', '.mjs'],
    bundle: true,
    minify,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}
