import { compileNetworkPolicy, PatternError } from "@codex/network-policy";
import type { NetworkOptions } from "@codex/policy";
import { ConfigError } from "./config-error.js";
import { describePlace, type Origin } from "./origin.js";

/** A rule for hosts, with its place. */
export type NetworkRule = NonNullable<NetworkOptions["rules"]>[number];

/** The decisions of a file about patterns of hosts; `none` is one that is not made. */
export type Domains = Readonly<Record<string, "allow" | "deny" | "ask" | "none">>;

/** @throws ConfigError for a pattern that is none, with its place */
export const createNetworkRules = (domains: Domains, locate: (pattern: string) => Origin): NetworkRule[] =>
  Object.entries(domains).flatMap(([pattern, decision]) => {
    const source = describePlace(locate(pattern));
    const rules = decision === "none" ? [] : [{ pattern, decision, source }];
    try {
      compileNetworkPolicy({ rules, mode: "full", allowLocalBinding: false });
    } catch (error) {
      if (error instanceof PatternError) throw new ConfigError(error.message); // it begins with the place
      throw error;
    }
    return rules;
  });
