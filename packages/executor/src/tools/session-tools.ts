import { execCommand } from "./exec-command.js";
import { killSession } from "./kill-session.js";
import { listSessions } from "./list-sessions.js";
import { readOutput } from "./read-output.js";
import { readScreen } from "./read-screen.js";
import type { SessionTool } from "./session-tool.js";
import { writeStdin } from "./write-stdin.js";

export const SESSION_TOOLS: ReadonlyMap<string, SessionTool> = new Map(
  [execCommand, writeStdin, listSessions, killSession, readOutput, readScreen].map((tool) => [tool.spec.name, tool]),
);
