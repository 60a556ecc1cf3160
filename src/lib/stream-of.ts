/** A stream that takes a piece when it is asked for one: no more than that is held for whoever takes nothing. */
export function streamOf<T>(pieces: Iterator<T, void>): ReadableStream<T> {
  return new ReadableStream<T>(
    {
      pull(controller) {
        const next = pieces.next()
        if (next.done) controller.close()
        else controller.enqueue(next.value)
      },
    },
    { highWaterMark: 0 },
  )
}
