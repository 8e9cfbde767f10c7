import type { ProcessOutcome } from "@codex/executor-protocol";
import type { Conversation, EnvironmentSelection, ModelTool, Orchestrator } from "@codex/orchestrator";
import { defined } from "@codex/values";

/** What decides where the calls of a thread run. */
export interface ThreadPlaceOptions {
  readonly orchestrator: Pick<Orchestrator, "createConversation" | "executors">;
  /** Selected environments; undefined: all. */
  readonly environments?: readonly EnvironmentSelection[];
  /** Working directory in the first environment, unless a selection has another. */
  readonly cwd?: string;
  readonly workspaceRoots?: readonly string[];
}

/** Where the calls of a thread run: the selected environments, and their directories. */
export class ThreadPlace {
  readonly #options: ThreadPlaceOptions;
  /** Created on first use: executors may be attached after the thread was started. */
  #opened: Conversation | undefined;

  constructor(options: ThreadPlaceOptions) {
    this.#options = options;
  }

  /** Selected environments, the default first; undefined: all. */
  get environments(): readonly EnvironmentSelection[] | undefined {
    return this.#conversation.environments;
  }

  /** No environment is selected. */
  get isDisabled(): boolean {
    return this.environments?.length === 0;
  }

  /** The environment of calls that name none, also before it is connected, and the directory of the turn there. */
  get default(): { environment: string | undefined; cwd: string | undefined } {
    const environment = this.environments === undefined ? this.#firstAttached : this.environments[0]?.id;
    return { environment, cwd: this.cwdOf(environment) };
  }

  /** Selects environments for this and later turns; undefined keeps them. @throws OrchestratorError */
  startTurn(environments: readonly EnvironmentSelection[] | undefined): void {
    this.#conversation.startTurn(environments === undefined ? {} : { environments: this.#complete(environments) });
  }

  listTools(): ModelTool[] {
    return this.#conversation.listTools();
  }

  /** Directory of the turn in an environment; undefined: its own. */
  cwdOf(environment: string | undefined): string | undefined {
    const { environments } = this;
    if (environments !== undefined) return environments.find(({ id }) => id === environment)?.cwd;
    return environment === this.#firstAttached ? this.#options.cwd : undefined;
  }

  /** Whether calls may use it. */
  includes(environment: string): boolean {
    return this.environments?.some(({ id }) => id === environment) ?? true;
  }

  /** Host of an environment; undefined before it is connected. */
  hostOf(environment: string | undefined) {
    return this.#options.orchestrator.executors.find(({ name }) => name === environment)?.host;
  }

  /** How a session has ended or was lost, as far as is known without asking; undefined while it runs. */
  findEnd(sessionId: number): ProcessOutcome | undefined {
    const outcome = this.#conversation.describeSession(sessionId)?.outcome;
    return outcome?.kind === "running" ? undefined : outcome;
  }

  readonly callTool: Conversation["callTool"] = (name, args, options) => {
    // A selection includes its directories.
    const directories = this.environments === undefined ? getDirectories(this.#options) : {};
    return this.#conversation.callTool(name, args, { ...options, ...directories });
  };

  get #firstAttached(): string | undefined {
    return this.#options.orchestrator.executors[0]?.name;
  }

  get #conversation(): Conversation {
    const { orchestrator, environments } = this.#options;
    this.#opened ??= orchestrator.createConversation(
      environments === undefined ? {} : { environments: this.#complete(environments) },
    );
    return this.#opened;
  }

  /** Adds the directories of the thread's default environment, at any position in a selection. */
  #complete(selection: readonly EnvironmentSelection[]): readonly EnvironmentSelection[] {
    const { environments } = this.#options;
    const own = environments === undefined ? this.#firstAttached : environments[0]?.id;
    return selection.map((each) =>
      each.id === own && each.cwd === undefined ? { ...getDirectories(this.#options), ...each } : each,
    );
  }
}

const getDirectories = ({ cwd, workspaceRoots }: ThreadPlaceOptions) => defined({ cwd, workspaceRoots });
