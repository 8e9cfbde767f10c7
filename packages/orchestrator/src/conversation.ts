import { defined } from "@codex/values";
import type { Approver } from "./approvals/approver.js";
import type { CallToolOptions } from "./calls/call-options.js";
import type { Judgement } from "./calls/judge-call.js";
import type { ToolCall } from "./calls/tool-call.js";
import type { ModelTool } from "./catalog/catalog.js";
import type { EnvironmentSelection } from "./catalog/selection.js";
import type { EnvironmentDescription } from "./environments/environment.js";
import type { SessionDescription } from "./executors/describe-session.js";
import type { StructuredOf, ToolCallResult } from "./result.js";

/** Options of a conversation. */
export interface ConversationOptions {
  /** Its environments until a turn has others, the first being the default; `[]`: none. Default: all that exist at each call. */
  environments?: readonly EnvironmentSelection[];
  /** Approver of its calls, instead of that of the environment or the orchestrator. */
  approver?: Approver;
  /** The client of its calls, where several share the orchestrator: see `CallToolOptions.client`. */
  client?: string;
}

/** The calls of one model over its turns. The selection of a turn also applies to the following turns. */
export interface Conversation {
  /** The environments that calls may use now; undefined for all. */
  readonly environments: readonly EnvironmentSelection[] | undefined;
  /**
   * Begins a turn. Given environments replace the previous selection, for this and later turns; `[]` disables all.
   * Calls in progress are not affected. @throws OrchestratorError `unknown_environment`; then nothing changes
   */
  startTurn(turn?: { environments?: readonly EnvironmentSelection[] }): void;
  /** The tools of the selected environments. */
  listTools(): ModelTool[];
  /** The selected environments, the default first. */
  listEnvironments(): EnvironmentDescription[];
  /** What is known of a session by its id for the model; undefined for an unknown one. Asks nobody. */
  describeSession(id: number): SessionDescription | undefined;
  /** As `Orchestrator.callTool`, in these environments. */
  callTool<Name extends string>(
    name: Name,
    args: unknown,
    options?: ConversationCallOptions,
  ): Promise<ToolCallResult<StructuredOf<Name>>>;
  /** As `Orchestrator.judge`, in these environments. */
  judge(name: string, args: unknown, options?: ConversationCallOptions): Promise<Judgement>;
  /** As `Orchestrator.startCall`, in these environments. */
  startCall<Name extends string>(
    name: Name,
    args: unknown,
    options?: ConversationCallOptions,
  ): ToolCall<StructuredOf<Name>>;
}

/** Options of one call of a conversation. */
export type ConversationCallOptions = Omit<CallToolOptions, "environments" | "client">;

/** The part of an orchestrator that a conversation uses. */
interface Caller {
  listTools(options: { environments?: readonly EnvironmentSelection[] }): ModelTool[];
  listEnvironments(selection?: readonly EnvironmentSelection[]): EnvironmentDescription[];
  describeSession(id: number, client: string | undefined): SessionDescription | undefined;
  callTool<Name extends string>(
    name: Name,
    args: unknown,
    options: CallToolOptions,
  ): Promise<ToolCallResult<StructuredOf<Name>>>;
  judge(name: string, args: unknown, options: CallToolOptions): Promise<Judgement>;
  startCall<Name extends string>(name: Name, args: unknown, options: CallToolOptions): ToolCall<StructuredOf<Name>>;
}

/** @param check throws for an invalid selection */
export function createConversation(
  caller: Caller,
  { environments, approver, client }: ConversationOptions,
  check: (selection: readonly EnvironmentSelection[]) => void,
): Conversation {
  let selection: readonly EnvironmentSelection[] | undefined;
  const select = (next: readonly EnvironmentSelection[] | undefined) => {
    if (next === undefined) return;
    check(next);
    selection = structuredClone(next);
  };
  select(environments);
  const own = () => (selection === undefined ? {} : { environments: selection });
  const complete = (options: ConversationCallOptions | undefined): CallToolOptions => ({
    ...defined({ approver, client }),
    ...options,
    ...own(),
  });
  return {
    get environments() {
      return selection;
    },
    startTurn: ({ environments: next } = {}) => select(next),
    listTools: () => caller.listTools(own()),
    listEnvironments: () => caller.listEnvironments(selection),
    describeSession: (id) => caller.describeSession(id, client),
    callTool: (name, args, options) => caller.callTool(name, args, complete(options)),
    judge: (name, args, options) => caller.judge(name, args, complete(options)),
    startCall: (name, args, options) => caller.startCall(name, args, complete(options)),
  };
}
