/** Version of Codex whose protocol this is. */
export const VERSION = "0.169.0";
