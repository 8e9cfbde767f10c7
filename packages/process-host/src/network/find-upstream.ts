import { findProxy, type HttpProxy } from "@codex/http-proxy";
import { isLocalAddress, isLoopbackAddress, type Target } from "@codex/network-policy";

/** The proxy of this host for a target. Private addresses are reached directly, as in Codex, unless they are said to be behind it. */
export const createFindUpstream =
  (env: Readonly<Record<string, string | undefined>>, forPrivate: boolean) =>
  (target: Target): HttpProxy | undefined => {
    const { address } = target.host;
    const isDirect = address !== undefined && isLocalAddress(address) && (!forPrivate || isLoopbackAddress(address));
    return isDirect ? undefined : findProxy(toUrl(target), env);
  };

const toUrl = ({ host, port, via }: Target): URL => {
  const name = host.text.includes(":") ? `[${host.text}]` : host.text;
  return new URL(`${via.protocol === "http" ? "http" : "https"}://${name}:${port}/`);
};
