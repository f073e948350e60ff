/** `npm run demo`, and `npm run demo -- --serve`. */
import { createScreen } from './screen.ts'

const screen = createScreen(process.stdout, process.env)
const [option, ...more] = process.argv.slice(2)
if (option === undefined) {
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))
  const { runDemo } = await import('./demo.ts')
  process.exitCode = await runDemo(screen)
} else if (option === '--serve' && more.length === 0) {
  const { serveDemo } = await import('./serve.ts')
  await serveDemo(screen)
} else {
  process.stderr.write('usage: npm run demo [-- --serve]\n')
  process.exitCode = 2
}
