/** Reason of every reset, that of Codex: what was wrong is nothing that the other side could use. */
export const RESET_REASON = "noise_relay_protocol_error";
