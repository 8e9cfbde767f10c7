import { readFileSync } from "node:fs";

/**
 * A recorded exchange; the first entry of cases/exec-server.json describes how they are replayed and compared.
 * @typedef {{
 *   name: string,
 *   send: import("./messages.mjs").Message[],
 *   expect: (import("./messages.mjs").Message & { $connection?: number })[],
 *   compare: "exact" | "coalesced",
 *   expectClosed?: { connectionClosed: true, wsCloseCode?: number }[],
 *   transport?: "websocket" | "stdio",
 *   pipelined?: boolean,
 *   messageMatters?: boolean,
 *   mayDiffer?: string,
 *   extension?: string,
 *   note?: string,
 *   requires?: string,
 * }} Case
 */

/**
 * @param {string | URL} file
 * @returns {Case[]} without the entry that describes the file
 * @throws Error naming the file and the case
 */
export function readCases(file) {
  /** @type {unknown} */
  const entries = parseFile(file);
  if (!Array.isArray(entries)) throw new Error(`${file}: expected a list of cases`);
  const cases = entries.filter((entry) => entry?.name !== "_meta");
  for (const [index, each] of cases.entries()) {
    const problem = findProblem(each);
    if (problem !== undefined) throw new Error(`${file}: case ${index} (${each?.name ?? "no name"}): ${problem}`);
  }
  return cases;
}

function parseFile(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new Error(`${file}: ${cause.message}`, { cause });
  }
}

function findProblem(entry) {
  if (typeof entry?.name !== "string") return "`name` is missing";
  if (!Array.isArray(entry.send)) return "`send` is not a list";
  if (!Array.isArray(entry.expect)) return "`expect` is not a list";
  if (!["exact", "coalesced"].includes(entry.compare)) return `\`compare\` is ${JSON.stringify(entry.compare)}`;
  if (!["websocket", "stdio", undefined].includes(entry.transport)) return `unknown transport \`${entry.transport}\``;
  return undefined;
}

const NEEDS_SOCKET = ["$drop", "$newConnection", "$binary"];

/** Why a case recorded over a websocket cannot be replayed over stdio; undefined if it can. */
export function whyStdioImpossible({ send, expectClosed }) {
  if (expectClosed !== undefined) return "about the end of a websocket";
  const step = NEEDS_SOCKET.find((name) => send.some((message) => name in message));
  if (step !== undefined) return `${step} needs a websocket`;
  const raw = send.find(({ $raw }) => typeof $raw === "string" && ($raw.trim() === "" || $raw.includes("\n")));
  return raw === undefined ? undefined : "a frame that is not a line";
}
