import type { MessagePort } from 'node:worker_threads'

/** What a port really carries: one turn's messages, and the bytes of those that have a `body`, in one transferred buffer. */
interface Post {
  readonly messages: readonly object[]
  /** One length a message, −1 for a message without a body. Absent when none has one. */
  readonly lengths?: readonly number[]
  readonly bytes?: Uint8Array
}

interface Bodied {
  readonly body: Uint8Array
}

function hasBody(message: object): message is Bodied {
  return 'body' in message && message.body instanceof Uint8Array
}

function pack(messages: readonly object[]): Post {
  if (!messages.some(hasBody)) return { messages }
  const lengths = messages.map((message) => (hasBody(message) ? message.body.byteLength : -1))
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + Math.max(length, 0), 0))
  let offset = 0
  const stripped = messages.map((message) => {
    if (!hasBody(message)) return message
    bytes.set(message.body, offset)
    offset += message.body.byteLength
    const { body: _, ...rest } = message
    return rest
  })
  return { messages: stripped, lengths, bytes }
}

function unpack(post: Post): readonly object[] {
  const { messages, lengths, bytes } = post
  if (lengths === undefined || bytes === undefined) return messages
  let offset = 0
  return messages.map((message, i) => {
    const length = lengths[i] ?? -1
    if (length < 0) return message
    const body = bytes.subarray(offset, offset + length)
    offset += length
    return { ...message, body }
  })
}

/**
 * One end of a message port. Messages sent in one turn of the event loop travel as one post, because the cost of a hop is
 * the post, not the message. Bodies travel in one transferred buffer: a small `Uint8Array` cloned by itself would drag the
 * whole slab it lies in along.
 */
export class Mailbox<Out extends object, In extends object> {
  readonly #port: MessagePort
  #outgoing: Out[] = []
  #scheduled = false
  #closed = false

  constructor(port: MessagePort, onMessage: (message: In) => void, onClose: () => void) {
    this.#port = port
    port.on('message', (post: Post) => {
      // The other end is this class too, so what arrives is what its type says it sends.
      for (const message of unpack(post)) onMessage(message as In)
    })
    port.on('close', () => {
      this.#closed = true
      onClose()
    })
  }

  send(message: Out): void {
    this.#outgoing.push(message)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.flush())
  }

  /** Posts what waits now; for the last words before a thread ends. */
  flush(): void {
    this.#scheduled = false
    if (this.#closed || this.#outgoing.length === 0) return
    const post = pack(this.#outgoing)
    this.#outgoing = []
    this.#port.postMessage(post, post.bytes === undefined ? [] : [post.bytes.buffer as ArrayBuffer])
  }

  close(): void {
    this.#closed = true
    this.#port.close()
  }
}
