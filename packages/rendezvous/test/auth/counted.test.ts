// Each way in without permission is refused by its own reason, and counted by it.
import { describe, expect, it } from "vitest";
import { createAccess } from "../../src/auth/access.js";
import { createTokenList, entryOf } from "../../src/auth/token-list.js";
import { connect, dial, makeKey, registerBody, type Started, startRendezvous } from "../support.js";

const NOW = 1_000_000;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const scope = (pattern: string, action: "register" | "connect") => ({
  kind: "environment" as const,
  pattern,
  actions: [action],
});

const tokens = [
  entryOf("executor", [scope("env-1", "register")]),
  entryOf("harness", [scope("env-1", "connect")]),
  entryOf("elsewhere", [scope("env-2", "connect")]),
  { ...entryOf("old", [scope("*", "connect")]), expiresAt: NOW - 1 },
];

/** An executor is connected; tokens are required. */
async function start() {
  let now = NOW;
  const started = await startRendezvous({
    access: createAccess([
      createTokenList(
        () => tokens,
        () => now,
      ),
    ]),
    wallClock: () => now,
  });
  const key = makeKey();
  const { body } = await started.post("/cloud/environment/env-1/register", registerBody(key), bearer("executor"));
  const executor = await dial(body.url!);
  const validate = (authorization: string, harness: object, id = body.executor_registration_id) =>
    started.post(
      "/cloud/environment/env-1/validate",
      { executor_registration_id: id, harness_public_key: harness, harness_key_authorization: authorization },
      bearer("executor"),
    );
  const pass = (ms: number) => {
    now += ms;
  };
  return { ...started, executor, validate, pass };
}

const ask = ({ post }: Started, token: string, method = "connect") =>
  post(
    `/cloud/environment/env-1/${method}`,
    method === "connect" ? { harness_public_key: makeKey() } : registerBody(),
    bearer(token),
  );

describe("a request that is refused", () => {
  it.each([
    ["without a token that is known", "nobody", "connect", 401, "unauthenticated"],
    ["with the token of a harness, to register", "harness", "register", 403, "wrong_scope"],
    ["with the token of an executor, to connect", "executor", "connect", 403, "wrong_scope"],
    ["with a token for another environment", "elsewhere", "connect", 403, "wrong_scope"],
    ["with a token that has expired", "old", "connect", 401, "token_expired"],
  ])("%s", async (_what, token, method, status, code) => {
    const started = await start();
    const answer = await ask(started, token, method);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    expect(answer.headers["x-codex-rendezvous-rejection-reason"]).toBe(code);
    expect(started.count("refusals_total", code)).toBe(1);
    expect(started.count("refusals_total")).toBe(1);
  });

  it("as a downgrade to clear text", async () => {
    const started = await start();
    for (const path of ["register", "direct/register"]) {
      const body = path === "register" ? "" : { transport: "direct_jsonrpc_v1" };
      const answer = await started.post(`/cloud/environment/env-1/${path}`, body, bearer("executor"));
      expect([answer.status, answer.body.error?.code]).toEqual([409, "registration_conflict"]);
    }
    const url = started.url.replace("http", "ws");
    for (const path of ["/direct/env-1", "/legacy/env-1?role=harness"]) {
      await expect(dial(url + path, { headers: bearer("harness") })).rejects.toThrow("403 clear_transport");
    }
    expect(started.count("refusals_total", "registration_conflict")).toBe(2);
    expect(started.count("refusals_total", "clear_transport")).toBe(2);
  });
});

describe("a ticket that is refused", () => {
  it("because it was used", async () => {
    const started = await start();
    const { url } = await connect(started, "env-1", bearer("harness"));
    await dial(url);
    await expect(dial(url)).rejects.toThrow("409 ticket_used");
    expect(started.count("refusals_total", "ticket_used")).toBe(1);
  });

  it("because it has expired", async () => {
    const started = await start();
    const { url, authorization, key } = await connect(started, "env-1", bearer("harness"));
    started.pass(60_001);
    await expect(dial(url)).rejects.toThrow("401 ticket_expired");
    expect(started.count("refusals_total", "ticket_expired")).toBe(1);
    expect((await started.validate(authorization, key)).body).toEqual({ valid: false, reason: "ticket_expired" });
    expect(started.count("validations_total", "refused")).toBe(1);
  });

  it("because it was stolen: it is bound to the key of its harness", async () => {
    const started = await start();
    const { authorization, key } = await connect(started, "env-1", bearer("harness"));
    expect((await started.validate(authorization, makeKey())).body).toEqual({ valid: false, reason: "ticket_foreign" });
    // The thief has not used it up.
    expect((await started.validate(authorization, key)).body).toEqual({ valid: true });
    expect((await started.validate(authorization, key)).body).toEqual({ valid: false, reason: "ticket_used" });
    expect(started.count("validations_total", "refused")).toBe(2);
    expect(started.count("validations_total", "admitted")).toBe(1);
  });

  it("because it was made up", async () => {
    const started = await start();
    const { url } = await connect(started, "env-1", bearer("harness"));
    const forged = url.replace(/\.[\w-]{43}$/, `.${"A".repeat(43)}`);
    await expect(dial(forged)).rejects.toThrow("401 ticket_invalid");
    expect(started.count("refusals_total", "ticket_invalid")).toBe(1);
  });
});
