/** The reason in every reset, as in Codex: details would not help the peer. */
export const RESET_REASON = "noise_relay_protocol_error";
