/** Version of Codex whose protocol is implemented. */
export const VERSION = "0.169.0";
