import { Fault } from "@codex/starlark";

/** A host as network rules compare it: lower case, without port, brackets and final dot. */
export function parseHostName(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") throw new Fault("the host of a network_rule is empty");
  if (trimmed.includes("*")) throw new Fault(`the host ${JSON.stringify(text)} has a wildcard`, "Name one host.");
  if (/[/?#]/.test(trimmed)) {
    throw new Fault(
      `the host ${JSON.stringify(text)} has a scheme or a path`,
      "Give the host name or IP address alone.",
    );
  }
  const name = removePort(trimmed)
    .toLowerCase()
    .replace(/(?<!\.)\.+$/, "");
  if (name === "") throw new Fault(`the host ${JSON.stringify(text)} is empty without its port`);
  if (/\s/.test(name)) throw new Fault(`the host ${JSON.stringify(text)} contains white space`);
  return name;
}

/** An IPv6 address has several colons and no port unless it is in brackets. */
function removePort(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(host)?.[1];
  if (bracketed === undefined && host.startsWith("[")) throw new Fault(`the host ${JSON.stringify(host)} is malformed`);
  return bracketed ?? /^([^:]+):\d+$/.exec(host)?.[1] ?? host;
}
