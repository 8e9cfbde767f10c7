import { createOrchestrator, type OrchestratorOptions } from "@codex/orchestrator";
import { expect, it } from "vitest";

it.each([["never"], [undefined], [null], [{}], [{ granular: { rules: true, sandboxApproval: true } }]])(
  "refuses %j as a policy",
  (policy) => {
    // As a caller in JavaScript could.
    const options = { policy } as unknown as OrchestratorOptions;
    expect(() => createOrchestrator(options)).toThrow(
      expect.objectContaining({ code: "bad_option", message: expect.stringContaining("approvalPolicy") }),
    );
  },
);
