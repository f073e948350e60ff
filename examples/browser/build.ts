/** Builds the page in memory: nothing is left behind in the folder. */
import { fileURLToPath } from 'node:url'
import type { Rollup } from 'vite'

export interface BuiltFile {
  readonly type: string
  readonly body: string | Uint8Array
}

const folder = fileURLToPath(new URL('.', import.meta.url))
const WORKER = fileURLToPath(new URL('../adapters/service-worker.ts', import.meta.url))

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  wasm: 'application/wasm',
}

/** The files of the page by path: `/index.html`, `/callback.html`, `/worker.js` and what they load. Takes some seconds. */
export async function buildPage(): Promise<ReadonlyMap<string, BuiltFile>> {
  const [parts, worker] = await Promise.all([pages(), serviceWorker()])
  const files = parts.map((part): [string, BuiltFile] => {
    const body = part.type === 'chunk' ? part.code : part.source
    return [`/${part.fileName}`, { type: typeOf(part.fileName), body }]
  })
  return new Map([...files, ['/worker.js', { type: typeOf('worker.js'), body: worker }]])
}

async function pages(): Promise<readonly (Rollup.OutputChunk | Rollup.OutputAsset)[]> {
  const { build } = await import('vite')
  const output = await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      write: false,
      target: 'es2022',
      // Inlined files would be text of the page, which the policy does not let in.
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 1000,
      rolldownOptions: { input: { index: `${folder}index.html`, callback: `${folder}callback.html` } },
    },
  })
  if (Array.isArray(output) || !('output' in output)) throw new Error('the bundler gave no single output')
  return output.output
}

/** Service workers have no `import()`, so this one is one file. */
async function serviceWorker(): Promise<string> {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: [WORKER],
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

function typeOf(name: string): string {
  return TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
}
