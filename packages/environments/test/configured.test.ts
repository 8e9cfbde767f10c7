import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWebSocketListener } from "@codex/channel/websocket";
import { describe, expect, it, onTestFinished } from "vitest";
import { startOwnServer } from "../../exec-server/test/backend/own-server.js";
import { createConfiguredProvider, createEnvironments, type Environments, loadEnvironments } from "../src/index.js";

/** The environments of a configuration; closed at the end of the test. */
async function open(files: { codex?: string; ours?: string }, env: Record<string, string> = {}): Promise<Environments> {
  const home = mkdtempSync(join(tmpdir(), "codex home "));
  onTestFinished(() => rmSync(home, { recursive: true }));
  if (files.codex !== undefined) writeFileSync(join(home, "environments.toml"), files.codex);
  if (files.ours !== undefined) writeFileSync(join(home, "environments-ts.toml"), files.ours.replaceAll("$HOME", home));
  const config = await loadEnvironments({ home, env: {} });
  const environments = createEnvironments(createConfiguredProvider(config, { env }));
  onTestFinished(() => environments.close());
  return environments;
}

/** An exec-server, and what arrived: one entry for each connection. */
async function listen(authorization?: string) {
  const { server, close } = await startOwnServer();
  const seen: (string | undefined)[] = [];
  const listener = await createWebSocketListener({
    host: "127.0.0.1",
    port: 0,
    authorize({ headers }) {
      seen.push(headers.authorization);
      const ok = authorization === undefined || headers.authorization === authorization;
      return ok ? { ok } : { ok, status: 401, message: `not ${headers.authorization}` };
    },
    onChannel: (channel) => void server.serve(channel, { transport: { kind: "websocket", peer: "test" } }),
  });
  onTestFinished(async () => {
    await listener.close();
    await close();
  });
  return { url: listener.url, seen };
}

const table = (id: string, url: string) => `[[environments]]\nid = "${id}"\nurl = "${url}"\n`;

describe("configured environments", () => {
  it("are connected individually, on first use", async () => {
    const [used, ...others] = await Promise.all(Array.from({ length: 5 }, () => listen()));
    const codex = [used!, ...others].map(({ url }, index) => table(`e${index}`, url)).join("");
    const environments = await open({ codex: `default = "e0"\n${codex}${table("down", "ws://127.0.0.1:1")}` });
    const { environment, insteadOf } = await environments.use();
    expect([environment.id, insteadOf, used!.seen.length]).toEqual(["e0", undefined, 1]);
    expect(others.flatMap(({ seen }) => seen)).toEqual([]);
    expect(environments.list().map(({ id, state }) => `${id} ${state.status}`)).toEqual([
      "e0 ready",
      ...["local", "e1", "e2", "e3", "e4", "down"].map((id) => `${id} disconnected`),
    ]);
  });

  it("fail closed: nothing is used instead of a default that cannot be reached", async () => {
    const environments = await open({
      codex: `default = "down"\n${table("down", "ws://u:s3cret@127.0.0.1:1/?k=s3cret")}`,
    });
    const failure = await environments.use().catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "EnvironmentError", code: "unreachable", environment: "down" });
    expect(JSON.stringify([String(failure), environments.get("down").state])).not.toContain("s3cret");
  });

  it("use the configured fallback, and report it", async () => {
    const { url } = await listen();
    const environments = await open({
      codex: `default = "down"\n${table("down", "ws://127.0.0.1:1")}${table("up", url)}`,
      ours: '[extend.down]\nfallback = "up"\n',
    });
    const { environment, insteadOf } = await environments.use();
    expect([environment.id, insteadOf]).toEqual([
      "up",
      { id: "down", reason: expect.stringContaining("ECONNREFUSED") },
    ]);
  });

  it("read a token from a file or a variable for each connection, and never show it", async () => {
    const { url, seen } = await listen("Bearer right");
    const environments = await open(
      {
        codex: table("a", url) + table("b", url) + table("c", url),
        ours:
          '[extend.a]\nauth_bearer_token_file = "token"\n[extend.b]\nauth_bearer_token_env = "B"\n' +
          '[extend.c]\nauth_bearer_token_env = "EMPTY"\n',
      },
      { B: "wrong-s3cret" },
    );
    await expect(environments.use("a")).rejects.toMatchObject({
      code: "unauthorized",
      reason: expect.stringContaining("auth_bearer_token_file"),
    });
    const refused = await environments.use("b").catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "unauthorized" });
    expect(String(refused)).not.toContain("s3cret");
    await expect(environments.use("c")).rejects.toMatchObject({
      reason: "the variable EMPTY, which should contain its bearer token, is empty",
    });
    expect(seen).toEqual(["Bearer wrong-s3cret"]);
  });

  it("connect at once if configured as eager", async () => {
    const { url } = await listen();
    const environments = await open({ codex: table("a", url), ours: "[extend.a]\neager = true\n" });
    await new Promise<void>((resolve) => {
      environments.onChange(({ id }, { status }) => {
        if (id === "a" && status === "ready") resolve();
      });
      if (environments.get("a").state.status === "ready") resolve();
    });
  });

  it("are listed in the error for an unknown id or a missing default", async () => {
    const environments = await open({ codex: `default = "none"\n${table("a", "ws://h")}` });
    expect(() => environments.get()).toThrow(expect.objectContaining({ code: "disabled" }));
    expect(() => environments.get("b")).toThrow(/`b`.*`local`, `a`/);
    await expect(environments.use("local")).rejects.toMatchObject({ code: "unsupported" });
  });
});
