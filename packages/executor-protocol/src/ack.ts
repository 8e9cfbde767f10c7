import type { OrchestratorMessage, OutputPosition } from "./messages.js";

type Ack = Extract<OrchestratorMessage, { type: "ack" }>;

/**
 * An acknowledgement of live output alone, as the schema reads it; undefined for anything else, which is left to the schema. One
 * comes with every few hundred KiB of output, and the schema costs as much as reading and sending that output.
 */
export function readOutputAck(value: unknown): Ack | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { type, answers, output } = value as { type?: unknown; answers?: unknown; output?: unknown }; // checked below
  if (type !== "ack" || !Array.isArray(output)) return undefined;
  if (answers !== undefined && !(Array.isArray(answers) && answers.length === 0)) return undefined;
  const positions: OutputPosition[] = [];
  for (const position of output as unknown[]) {
    if (typeof position !== "object" || position === null) return undefined;
    const { processId, offset } = position as { processId?: unknown; offset?: unknown }; // checked below
    if (!isInteger(processId) || !isInteger(offset) || offset < 0) return undefined;
    positions.push({ processId, offset });
  }
  return answers === undefined ? { type, output: positions } : { type, answers: [], output: positions };
}

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);
