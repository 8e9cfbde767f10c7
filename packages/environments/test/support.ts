import { createMemoryChannelPair } from "@codex/channel";
import type { ExecBackend } from "@codex/exec-backend";
import { createExecutor } from "@codex/executor";
import { onTestFinished } from "vitest";
import { listenOwnServer } from "../../exec-server/test/backend/own-server.js";
import {
  createRemoteEnvironment,
  createWebSocketLink,
  type Environment,
  type HostTools,
  type RemoteEnvironmentOptions,
} from "../src/index.js";

/** Puts an executor in front of a host, as a program does that has `@codex/executor`. */
export const hostTools: HostTools = ({ createBackend, host, resolvePath }) => {
  const [ours, its] = createMemoryChannelPair();
  void createExecutor({ backend: (): ExecBackend => createBackend(), host, resolvePath }).serve(its, {
    resumable: false,
  });
  return ours;
};

/** An exec-server of this project on a websocket; closed at the end of the test. */
export async function listen(): Promise<string> {
  const { url, close } = await listenOwnServer();
  onTestFinished(close);
  return url;
}

/** An environment at an address; closed at the end of the test. */
export function environmentAt(url: string, options: Partial<RemoteEnvironmentOptions> = {}): Environment {
  const link = createWebSocketLink({ url, connectTimeoutMs: 5_000 });
  const environment = createRemoteEnvironment({ id: "far", kind: "websocket", link, hostTools, ...options });
  onTestFinished(() => environment.close());
  return environment;
}
