import {
  CLIENT_CAPABILITIES_META_KEY,
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod/mini";
import { TASKS_EXTENSION } from "../handshake/identity.js";
import type { CallTask } from "./call-task.js";
import type { Tasks } from "./tasks.js";

/** Whether a request declares that its client can poll tasks. */
export function canPollTasks({ mcpReq }: ServerContext): boolean {
  const capabilities: unknown = Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY);
  const extensions: unknown = Reflect.get(Object(capabilities), "extensions");
  return Reflect.get(Object(extensions), TASKS_EXTENSION) !== undefined;
}

/** Registers the methods of the tasks extension, which revisions with per-request capabilities have. */
export function registerTasks({ server }: McpServer, tasks: Tasks): void {
  server.registerCapabilities({ extensions: { [TASKS_EXTENSION]: {} } });
  const find = (taskId: string, context: ServerContext): CallTask => {
    if (!canPollTasks(context)) {
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
      });
    }
    const task = tasks.get(taskId);
    if (task === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `unknown task ${taskId}`);
    return task;
  };
  server.setRequestHandler("tasks/get", { params: idSchema, result: resultSchema }, ({ taskId }, context) => ({
    ...find(taskId, context).detail(),
  }));
  server.setRequestHandler("tasks/cancel", { params: idSchema, result: resultSchema }, ({ taskId }, context) => {
    find(taskId, context).cancel();
    return {};
  });
  server.setRequestHandler("tasks/update", { params: idSchema, result: resultSchema }, ({ taskId }, context) => {
    // The SDK takes the responses out of the parameters.
    find(taskId, context).update(context.mcpReq.inputResponses ?? {});
    return {};
  });
}

const idSchema = z.looseObject({ taskId: z.string() });
const resultSchema = z.looseObject({});
