/** Bytes of a stranger may come in so many pieces, and one more for each `BYTES_PER_PIECE`: what clients, proxies and servers send comes in pieces of a packet and more. */
const PIECES = 256
const BYTES_PER_PIECE = 64

/** Whether so many bytes came in more pieces than anybody needs. A runtime keeps half a kilobyte for each piece that it has not handed on. */
export const areTooMany = (pieces: number, bytes: number): boolean =>
  pieces > PIECES + bytes / BYTES_PER_PIECE
