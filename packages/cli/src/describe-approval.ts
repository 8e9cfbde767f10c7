import { type ApprovalRequest, renderAllowRule } from "@codex/orchestrator";
import { describeSandbox } from "./describe-sandbox.js";
import { quoteWords, visible } from "./visible.js";

/** What a person needs for deciding. Control characters are made visible: a command must not repaint the question. */
export function describeRequest(
  request: ApprovalRequest,
  rulesFile: string,
  highlight: (text: string) => string,
): string {
  const { command, cwd, environment, reason, justification, proposedAmendment, availableDecisions } = request;
  const rule = availableDecisions.includes("accept_and_save") ? proposedAmendment : null;
  const lines = [
    "",
    `  command      ${highlight(quoteWords(command))}`,
    `  directory    ${visible(cwd)}`,
    `  environment  ${visible(environment)}`,
    `  sandbox      ${visible(describeSandbox(request.sandbox))}`,
    ...describeExtra(request).map((line) => `  asks for     ${visible(line)}`),
    ...describeEarlierRun(request).map((line) => `  already ran  ${visible(line)}`),
    `  reason       ${visible(reason)}`,
    ...(justification === null ? [] : [`  the model    ${visible(justification)}`]),
    ...(rule === null
      ? []
      : [`  rule to save ${visible(renderAllowRule(rule))}`, `  saved to     ${visible(rulesFile)}`]),
    "",
  ];
  return lines.join("\n");
}

function describeExtra({ additionalPermissions }: ApprovalRequest): string[] {
  const { file_system: files, network } = (additionalPermissions ?? {}) as {
    file_system?: { read?: string[]; write?: string[] };
    network?: { enabled?: boolean };
  };
  return [
    ...(files?.read ?? []).map((path) => `reading ${path}`),
    ...(files?.write ?? []).map((path) => `writing ${path}`),
    ...(network?.enabled === true ? ["the network"] : []),
  ];
}

function describeEarlierRun({ afterDenial }: ApprovalRequest): string[] {
  if (afterDenial === null) return [];
  const { certain, exitCode } = afterDenial;
  const cause = certain ? "until the sandbox refused something" : "and failed, perhaps because of the sandbox";
  const code = exitCode === undefined ? "" : ` (exit code ${exitCode})`;
  return [`in its sandbox, in part, ${cause}${code}; what it did is done, and would be done again`];
}
