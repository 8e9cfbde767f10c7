/** Most bytes of one piece, in UTF-8: the most that any other message has to wait for. */
export const MAX_PIECE_BYTES = 64 * 1024;

/** Least cost of a piece, which bounds the number of small ones. */
const MIN_PIECE_COST = 256;

/** Default window of a tunnel, in the units of `getPieceCost`. */
export const DEFAULT_TUNNEL_WINDOW = 1024 * 1024;

/** The smallest window of a tunnel. */
export const MIN_TUNNEL_WINDOW = 1024;

/** The part of the window that a piece takes: its bytes in UTF-8, at least `MIN_PIECE_COST`. */
export const getPieceCost = (data: string): number => Math.max(MIN_PIECE_COST, Buffer.byteLength(data));
