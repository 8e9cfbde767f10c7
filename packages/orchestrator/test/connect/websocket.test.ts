import { createWebSocketListener } from "@codex/channel/websocket";
import { connectWebSocket } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { closeAfterTest, serveScripted } from "../support/executors.js";
import { stage } from "../support/orchestrators.js";

async function listen(token?: string) {
  const seen: (string | undefined)[] = [];
  const listener = await createWebSocketListener({
    port: 0,
    onChannel: (channel) => void serveScripted(channel),
    authorize: ({ headers }) => {
      seen.push(headers.authorization);
      const ok = token === undefined || headers.authorization === `Bearer ${token}`;
      return ok ? { ok } : { ok, status: 401, message: "who are you" };
    },
  });
  closeAfterTest(() => listener.close());
  return { url: listener.url, seen };
}

describe("connectWebSocket", () => {
  it("attaches an executor that listens", async () => {
    const { url, seen } = await listen("secret");
    const { orchestrator } = stage();
    await orchestrator.attach({ name: "far", channel: connectWebSocket(url, { token: "secret" }) });
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi" });
    expect(result).toMatchObject({ status: "success", structured: { exitCode: 0 } });
    expect(seen).toEqual(["Bearer secret"]);
  });

  it("says that it was refused, in the error of attach too", async () => {
    const { url } = await listen("secret");
    await expect(connectWebSocket(url, { token: "wrong" })).rejects.toMatchObject({ code: "connect_failed" });
    const { orchestrator } = stage();
    const attaching = orchestrator.attach({ name: "far", channel: connectWebSocket(url) });
    await expect(attaching).rejects.toThrow(/HTTP 401.*who are you/);
  });

  it("names an address where nobody listens", async () => {
    const listener = await createWebSocketListener({ port: 0, onChannel: () => {} });
    const { url } = listener;
    await listener.close();
    await expect(connectWebSocket(url)).rejects.toThrow(/127\.0\.0\.1:\d+\/? failed: .*ECONNREFUSED/);
    await expect(connectWebSocket("http://127.0.0.1:1")).rejects.toThrow(/not a websocket URL/);
  });

  it("does not send a token over an open network in the clear", async () => {
    const connecting = connectWebSocket("ws://executor.example:80", { token: "secret" });
    await expect(connecting).rejects.toMatchObject({ code: "bad_option" });
    await expect(connecting).rejects.toThrow(/`executor\.example` would travel unencrypted/);
    await expect(connecting).rejects.not.toThrow(/secret/);
  });
});
