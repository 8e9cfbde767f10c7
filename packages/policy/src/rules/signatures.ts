import type { bindArguments } from "@codex/starlark";

/** In positional order, after `pattern`. */
const OPTIONAL_PARAMETERS: readonly string[] = [
  "decision",
  "match",
  "not_match",
  "justification",
  "canonical_matching",
];

/** What Codex does not have. */
const NAMED_ONLY: readonly string[] = ["sandbox", "whole", "outside", "env"];

export const PREFIX_RULE_PARAMETERS: readonly string[] = ["pattern", ...OPTIONAL_PARAMETERS, ...NAMED_ONLY];

const required = (name: string) => ({ name, required: true });
const optional = (name: string) => ({ name, required: false });

/** The parameters of each built-in of rule files, by its name. */
export const SIGNATURES: Readonly<Record<string, Omit<Parameters<typeof bindArguments>[0], "name">>> = {
  prefix_rule: {
    parameters: [required("pattern"), ...OPTIONAL_PARAMETERS.map(optional)],
    namedOnly: NAMED_ONLY,
  },
  host_executable: { parameters: [required("name"), required("paths")] },
  network_rule: {
    parameters: [required("host"), required("protocol"), required("decision"), optional("justification")],
  },
};
