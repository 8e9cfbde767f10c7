/** Subprotocol of the websocket. A page offers it before its key; the server selects it, and so repeats no key. */
export const PAGE_PROTOCOL = "codex-view";
