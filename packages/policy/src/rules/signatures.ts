import type { bindArguments } from "@codex/starlark";

/** In positional order, after `pattern`. */
const OPTIONAL_PARAMETERS: readonly string[] = [
  "decision",
  "match",
  "not_match",
  "justification",
  "canonical_matching",
];

export const PREFIX_RULE_PARAMETERS: readonly string[] = ["pattern", ...OPTIONAL_PARAMETERS, "sandbox", "whole"];

const required = (name: string) => ({ name, required: true });
const optional = (name: string) => ({ name, required: false });

/** The parameters of each built-in of rule files, by its name. */
export const SIGNATURES: Readonly<Record<string, Omit<Parameters<typeof bindArguments>[0], "name">>> = {
  prefix_rule: {
    parameters: [required("pattern"), ...OPTIONAL_PARAMETERS.map(optional)],
    namedOnly: ["sandbox", "whole"],
  },
  host_executable: { parameters: [required("name"), required("paths")] },
  network_rule: {
    parameters: [required("host"), required("protocol"), required("decision"), optional("justification")],
  },
};
