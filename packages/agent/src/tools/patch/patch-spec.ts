import { PATCH_DESCRIPTION } from "@codex/file-tools";

const GRAMMAR = `start: begin environment? operation+ end
begin: "*** Begin Patch" LF
end: "*** End Patch" LF?
environment: "*** Environment ID: " REST LF
operation: add | delete | update
add: "*** Add File: " REST LF added+
delete: "*** Delete File: " REST LF
update: "*** Update File: " REST LF move? chunks?
move: "*** Move to: " REST LF
chunks: (head | line)+ last?
head: ("@@" | "@@ " REST) LF
line: ("+" | "-" | " ") /(.*)/ LF
added: "+" /(.*)/ LF
last: "*** End of File" LF
REST: /(.+)/
%import common.LF
`;

/** Description of `apply_patch` for the model. @param environments ids of those that a patch may be for, the default first */
export function describePatch(environments: readonly string[]): string {
  const [first, ...others] = environments;
  if (others.length === 0) return PATCH_DESCRIPTION;
  const ids = environments.join(", ");
  return `${PATCH_DESCRIPTION} A patch for another environment than ${first} has the line \`*** Environment ID: ID\` after \`*** Begin Patch\`; there are ${ids}.`;
}

/** Lark grammar of a patch. @param environments see {@link describePatch} */
export const createPatchGrammar = (environments: readonly string[]): string =>
  environments.length > 1 ? GRAMMAR : GRAMMAR.replace(" environment?", "").replace(/^environment: .*\n/m, "");
