import { createServer } from 'node:http'

/**
 * A destination of shipped entries, as a process of its own: takes every batch whole and answers 200. Prints its port, and at its end
 * (SIGTERM) how many lines it had.
 */
let lines = 0
const server = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1
  })
  request.on('end', () => response.end())
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) process.stdout.write(`${address.port}\n`)
})
process.once('SIGTERM', () => {
  process.stdout.write(`${lines}\n`, () => process.exit(0))
})
