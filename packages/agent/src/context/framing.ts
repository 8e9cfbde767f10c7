/** Tags that the agent itself inserts into a conversation. */
const FRAMES = [
  "instructions",
  "environment_context",
  "environments?",
  "skills?",
  "skills_instructions",
  "permissions",
  "permissions_instructions",
  "sandbox_mode",
  "network_access",
  "approval_policy",
  "writable_root",
  "turn_aborted",
  "stdin",
  "image",
  "user_instructions",
];

const TAG = new RegExp(String.raw`<(?=\s*(?:/\s*)?(?:${FRAMES.join("|")})(?![\w-]))`, "gi");

/** Escapes file text so that it can neither close its tag nor open another reserved one. */
export const frameText = (text: string): string => text.replace(TAG, "&lt;");

/** Escapes a name or path for use within one line of tagged text. */
export const frameName = (name: string): string => frameText(name.replace(CONTROLS, escapeControl));

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const escapeControl = (found: string): string => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
