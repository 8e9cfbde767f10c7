import { createCuttingProxy } from "@codex/testkit";
import { createRemoteEnvironment, createWebSocketLink } from "../../src/index.js";
import type { OpenedEnvironment } from "./body.js";

/** An environment at an address, behind a proxy that can drop connections. */
export async function openAtAddress(
  listen: () => Promise<{ url: string; close(): Promise<void> }>,
): Promise<OpenedEnvironment> {
  const server = await listen();
  const proxy = await createCuttingProxy(server.url);
  const environment = createRemoteEnvironment({
    id: "remote",
    kind: "websocket",
    link: createWebSocketLink({ url: proxy.url }),
  });
  return {
    environment,
    cut() {
      proxy.setDown(true);
      proxy.setDown(false);
    },
    async close() {
      await environment.close();
      await proxy.close();
      await server.close();
    },
  };
}
