import { parseHost } from "@codex/network-policy";
import { expect, it } from "vitest";
import { createFindUpstream } from "../src/network/find-upstream.js";

const PROXY = { HTTPS_PROXY: "http://proxy.example:3128", NO_PROXY: "inside.example" };

it.each([
  ["public.example", true, true],
  ["inside.example", false, false],
  ["8.8.8.8", true, true],
  ["10.1.2.3", false, true],
  ["192.168.0.1", false, true],
  ["::ffff:10.1.2.3", false, true],
  ["fd00::1", false, true],
  ["127.0.0.1", false, false],
  ["::1", false, false],
])(
  "%s is reached through the proxy of this host: %s; where private addresses are behind it: %s",
  (host, byDefault, forPrivate) => {
    const target = { host: parseHost(host)!, port: 443, via: { protocol: "connect" } } as const;
    const isUpstream = (flag: boolean) => createFindUpstream(PROXY, flag)(target) !== undefined;
    expect([isUpstream(false), isUpstream(true)]).toEqual([byDefault, forPrivate]);
  },
);
