import type { Approver } from "./approvals/approver.js";
import type { CallToolOptions } from "./calls/call-options.js";
import type { Judgement } from "./calls/judge-call.js";
import type { ToolCall } from "./calls/tool-call.js";
import type { ModelTool } from "./catalog/catalog.js";
import type { EnvironmentSelection } from "./catalog/selection.js";
import type { EnvironmentDescription } from "./environments/environment.js";
import type { StructuredOf, ToolCallResult } from "./result.js";

/** What a conversation begins with. */
export interface ConversationOptions {
  /** Its environments until a turn has others, the first being the default; `[]`: none. Default: all there are at each call. */
  environments?: readonly EnvironmentSelection[];
  /** Asked for approval of its calls, instead of the environment's or the orchestrator's. */
  approver?: Approver;
  /** On whose behalf its calls are made, where several clients share the orchestrator: see `CallToolOptions.client`. */
  client?: string;
}

/** The calls of one model over its turns: what is selected for a turn stays selected for those that follow. */
export interface Conversation {
  /** What calls may use now; undefined for all there are. */
  readonly environments: readonly EnvironmentSelection[] | undefined;
  /**
   * Begins a turn. Environments that are given replace those of the turns before, for this and later ones; `[]` disables all.
   * Calls that are under way keep theirs. @throws OrchestratorError `unknown_environment`; nothing changes then
   */
  startTurn(turn?: { environments?: readonly EnvironmentSelection[] }): void;
  /** The tools of the environments that are selected. */
  listTools(): ModelTool[];
  /** The environments that are selected, the default first. */
  listEnvironments(): EnvironmentDescription[];
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

/** How one call of a conversation is carried out. */
export type ConversationCallOptions = Omit<CallToolOptions, "environments" | "client">;

/** What a conversation needs of an orchestrator. */
interface Caller {
  listTools(options: { environments?: readonly EnvironmentSelection[] }): ModelTool[];
  listEnvironments(selection?: readonly EnvironmentSelection[]): EnvironmentDescription[];
  callTool<Name extends string>(
    name: Name,
    args: unknown,
    options: CallToolOptions,
  ): Promise<ToolCallResult<StructuredOf<Name>>>;
  judge(name: string, args: unknown, options: CallToolOptions): Promise<Judgement>;
  startCall<Name extends string>(name: Name, args: unknown, options: CallToolOptions): ToolCall<StructuredOf<Name>>;
}

/** @param check throws for a selection that cannot be made */
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
    ...(approver === undefined ? {} : { approver }),
    ...(client === undefined ? {} : { client }),
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
    callTool: (name, args, options) => caller.callTool(name, args, complete(options)),
    judge: (name, args, options) => caller.judge(name, args, complete(options)),
    startCall: (name, args, options) => caller.startCall(name, args, complete(options)),
  };
}
