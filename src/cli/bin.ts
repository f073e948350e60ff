#!/usr/bin/env node
import { processIo, write } from './io.ts'
import { main } from './main.ts'

const io = processIo()
const exitCode = await main(process.argv.slice(2), io)
await Promise.allSettled([write(io.stdout, ''), write(io.stderr, '')])
process.exit(exitCode)
