import { describe, expect, it } from "vitest";
import { type ExecutorLink, type Registration, Registrations } from "../../src/registry/registrations.js";
import { FakeClock } from "../fake-clock.js";

function start() {
  const clock = new FakeClock();
  const registrations = new Registrations({ clock, wallClock: () => 0, leaseMs: 1000, max: 10, onReplaced: () => {} });
  const register = (id: string): Registration => {
    const registration = {
      id,
      environmentId: "e",
      member: "",
      name: "",
      version: "",
      labels: {},
      transport: "noise" as const,
      key: undefined,
      expiresAt: undefined,
      registeredAt: 0,
    };
    registrations.add(registration);
    return registration;
  };
  return { clock, registrations, register };
}

const makeLink = (closed: string[] = []): ExecutorLink => ({
  load: 0,
  findTicketId: () => undefined,
  close: (cause) => void closed.push(cause),
});

describe("what other nodes have registered", () => {
  it("is bounded, replaces what is known, and takes an executor over", () => {
    const { registrations, register } = start();
    const place = { nodeId: "other", load: 3, since: 5 };
    const mine = register("mine");
    const closed: string[] = [];
    registrations.attach(mine, makeLink(closed));
    registrations.learn(mine, place);
    expect([closed, registrations.find("e", "mine")?.place]).toEqual([["replaced"], place]);
    registrations.learn({ ...mine, id: "newer" }, undefined);
    expect([registrations.find("e", "mine"), registrations.get("e")?.id]).toEqual([undefined, "newer"]);
    for (let n = 0; n < 20; n += 1) registrations.learn({ ...mine, environmentId: `e-${n}` }, place);
    expect(registrations.size).toBe(10);
  });

  it("is forgotten when a node does not answer, and known again when it may only have been slow", () => {
    const { clock, registrations, register } = start();
    const registration = register("r");
    const place = { nodeId: "other", load: 0, since: 0 };
    registrations.learn(registration, place);
    registrations.forget(registration, { ...place });
    expect(registrations.find("e", "r")?.place).toBe(place);
    registrations.forget(registration, place, 100);
    expect(registrations.find("e", "r")?.place).toBeUndefined();
    clock.advance(100);
    expect(registrations.find("e", "r")?.place).toBe(place);
    registrations.forget(registration, place);
    clock.advance(500);
    expect(registrations.find("e", "r")?.place).toBeUndefined();
  });
});

describe("a registration", () => {
  it("lasts for its lease without a connection, and as long as it has one", () => {
    const { clock, registrations, register } = start();
    register("never connected");
    clock.advance(999);
    expect(registrations.get("e")?.id).toBe("never connected");
    clock.advance(1);
    expect(registrations.get("e")).toBeUndefined();

    const registration = register("connected");
    const link = makeLink();
    registrations.attach(registration, link);
    clock.advance(100_000);
    expect(registrations.getLink(registration)).toBe(link);
    registrations.detach(registration, link);
    clock.advance(999);
    expect(registrations.get("e")?.id).toBe("connected");
    registrations.attach(registration, link);
    clock.advance(100_000);
    registrations.detach(registration, link);
    clock.advance(1000);
    expect([registrations.get("e"), registrations.size]).toEqual([undefined, 0]);
  });

  it("closes the connection that another one replaces, whose end then changes nothing", () => {
    const { clock, registrations, register } = start();
    const registration = register("r");
    const closed: string[] = [];
    const [old, current] = [makeLink(closed), makeLink()];
    registrations.attach(registration, old);
    registrations.attach(registration, current);
    expect(closed).toEqual(["replaced"]);
    registrations.detach(registration, old);
    clock.advance(5000);
    expect(registrations.getLink(registration)).toBe(current);
  });

  it("that was replaced has no connection, and gets none", () => {
    const { registrations, register } = start();
    const old = register("old");
    const closed: string[] = [];
    registrations.attach(old, makeLink(closed));
    register("new");
    expect([closed, registrations.getLink(old)]).toEqual([["replaced"], undefined]);
    registrations.attach(old, makeLink(closed));
    expect(closed).toEqual(["replaced", "replaced"]);
  });

  it("wakes those that wait for it", () => {
    const { registrations, register } = start();
    let woken = 0;
    const stop = registrations.onAttach("e", () => {
      woken += 1;
      stop();
    });
    expect(registrations.countWaiting("e")).toBe(1);
    const registration = register("r");
    registrations.attach(registration, makeLink());
    registrations.attach(registration, makeLink());
    expect([woken, registrations.countWaiting("e")]).toEqual([1, 0]);
  });
});
