import { describe, expect, it } from "vitest";
import { createAccess } from "../../src/auth/access.js";
import { parseScope } from "../../src/auth/scope.js";
import { createTokenList, entryOf } from "../../src/auth/token-list.js";
import { dial, makeKey, registerBody, type Started, send, startHarness, startRendezvous } from "../support.js";

/** An executor that has connected, with what it registers beside its key. */
async function start({ post }: Started, more: object, environment = "gpu", headers: Record<string, string> = {}) {
  const { status, body } = await post(
    `/cloud/environment/${environment}/register`,
    { ...registerBody(), ...more },
    headers,
  );
  expect(status).toBe(200);
  return { id: body.executor_registration_id!, end: await dial(body.url!) };
}

/** Where a harness is sent. */
async function ask({ post }: Started, { key = makeKey(), labels = {}, path = "/cloud/environment/gpu/connect" } = {}) {
  const { status, body } = await post(path, { harness_public_key: key, labels });
  return status === 200 ? body.executor_registration_id : body.error?.code;
}

describe("executors of one environment", () => {
  it("with names serve it together; a newer one of the same name replaces the older one", async () => {
    const started = await startRendezvous();
    const [a, b] = [await start(started, { name: "a" }), await start(started, { name: "b" })];
    const asked = [await ask(started), await ask(started), await ask(started), await ask(started)];
    expect(asked.filter((id) => id === a.id)).toHaveLength(2);
    expect(asked.filter((id) => id === b.id)).toHaveLength(2);
    const newer = await start(started, { name: "a" });
    expect(await a.end.closed).toBe(4409);
    expect([await ask(started), await ask(started)]).toEqual([newer.id, newer.id]);
  });

  it("without a name and labels replace each other, as Codex's do", async () => {
    const started = await startRendezvous();
    const first = await start(started, {});
    const second = await start(started, { version: "1.2.3" });
    expect(await first.end.closed).toBe(4409);
    expect([await ask(started), await ask(started)]).toEqual([second.id, second.id]);
  });

  it("are chosen by their labels and their load", async () => {
    const started = await startRendezvous();
    const h100 = await start(started, { labels: { gpu: "h100", zone: "x" } });
    const a100 = await start(started, { labels: { gpu: "a100", zone: "x" } });
    const want = (labels: Record<string, string>) => ask(started, { labels });
    expect(await want({ gpu: "h100" })).toBe(h100.id);
    expect(await want({ gpu: "a100", zone: "x" })).toBe(a100.id);
    expect(await want({ gpu: "h100", zone: "y" })).toBe("executor_away");
    expect(await want({ constructor: "" })).toBe("executor_away");
  });

  it("get as many harnesses each", async () => {
    const started = await startRendezvous();
    await Promise.all([0, 1, 2].map((n) => start(started, { name: `e${n}` })));
    for (let n = 0; n < 9; n += 1) await startHarness(started, "gpu");
    const listed = await send(started.url, { path: "/cloud/environments" });
    const { executors } = listed.body as unknown as { executors: { harnesses: number }[] };
    expect(executors.map(({ harnesses }) => harnesses)).toEqual([3, 3, 3]);
  });

  it("keep their harnesses: one that comes back is sent where it was, also while that is away for a moment", async () => {
    const started = await startRendezvous({ limits: { connectHoldMs: 50 } });
    const [a, b] = [await start(started, { name: "a" }), await start(started, { name: "b" })];
    const key = makeKey();
    const first = await ask(started, { key });
    for (let n = 0; n < 5; n += 1) expect(await ask(started, { key })).toBe(first);
    const gone = first === a.id ? a : b;
    gone.end.socket.terminate();
    await gone.end.closed;
    await expect.poll(() => started.count("executors_live")).toBe(1);
    expect(await ask(started, { key })).toBe("executor_away");
    // Others need not wait.
    expect(await ask(started)).toBe((gone === a ? b : a).id);
  });

  it("of any environment are found by labels alone", async () => {
    const started = await startRendezvous();
    const other = await start(started, { labels: { gpu: "h100" } }, "other");
    await start(started, { labels: { gpu: "a100" } });
    expect(await ask(started, { path: "/cloud/connect", labels: { gpu: "h100" } })).toBe(other.id);
    expect(await ask(started, { path: "/cloud/connect", labels: { gpu: "none" } })).toBe("executor_away");
    expect(await ask(started, { path: "/cloud/connect" })).toBe("bad_request");
  });
});

it("a token sees and reaches by labels only the environments of its scopes", async () => {
  const scopes = (...words: string[]) => words.map((word) => parseScope(word)!);
  const tokens = [
    entryOf("executor", scopes("environment:*:register")),
    entryOf("mine", scopes("environment:mine:connect")),
  ];
  const access = createAccess([createTokenList(() => tokens, Date.now)]);
  const started = await startRendezvous({ access });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  await start(started, { labels: { gpu: "h100" } }, "theirs", bearer("executor"));
  const list = () => send(started.url, { path: "/cloud/environments", headers: bearer("mine") });
  expect((await list()).body).toEqual({ executors: [] });
  const body = { harness_public_key: makeKey(), labels: { gpu: "h100" } };
  const before = await started.post("/cloud/connect", body, bearer("mine"));
  expect([before.status, before.body.error?.code]).toEqual([503, "executor_away"]);
  const mine = await start(started, { name: "n", version: "7", labels: { gpu: "h100" } }, "mine", bearer("executor"));
  expect((await started.post("/cloud/connect", body, bearer("mine"))).body.executor_registration_id).toBe(mine.id);
  expect((await list()).body).toMatchObject({
    executors: [{ environment_id: "mine", name: "n", version: "7", connected: true, harnesses: 0 }],
  });
  expect((await started.post("/cloud/connect", body)).status).toBe(401);
  expect((await send(started.url, { path: "/cloud/environments" })).status).toBe(401);
});

it.each([
  ["too many labels", { labels: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`l${n}`, ""])) }],
  ["a label with a bad name", { labels: { "a b": "" } }],
  ["a label with a control character", { labels: { a: "x\u001b[2J" } }],
  ["a long name", { name: "n".repeat(129) }],
])("a registration with %s is refused", async (_what, more) => {
  const { post } = await startRendezvous();
  const { status, body } = await post("/cloud/environment/gpu/register", { ...registerBody(), ...more });
  expect([status, body.error?.code]).toEqual([400, "bad_request"]);
});
