/** Most bytes of one piece, in UTF-8: what else there is to send waits at most for this much. */
export const MAX_PIECE_BYTES = 64 * 1024;

/** What a piece costs at least, so that small ones are bounded in number, too. */
const MIN_PIECE_COST = 256;

/** What a tunnel end may have on its way unless its user says otherwise, in the units of `getPieceCost`. */
export const DEFAULT_TUNNEL_WINDOW = 1024 * 1024;

/** The smallest window that a tunnel works with. */
export const MIN_TUNNEL_WINDOW = 1024;

/** What a piece takes of the window: its bytes in UTF-8, at least `MIN_PIECE_COST`. */
export const getPieceCost = (data: string): number => Math.max(MIN_PIECE_COST, Buffer.byteLength(data));
