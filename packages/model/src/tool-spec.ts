/** A tool as offered to a model. */
export type ToolSpec = FunctionSpec | CustomSpec | HostedSpec;

/** A tool that takes a JSON object. */
export interface FunctionSpec {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  readonly strict: false;
  /** JSON schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A free-form tool, whose input follows a grammar. */
export interface CustomSpec {
  readonly type: "custom";
  readonly name: string;
  readonly description: string;
  readonly format: { readonly type: "grammar"; readonly syntax: "lark"; readonly definition: string };
}

/** A tool that the endpoint runs. */
export interface HostedSpec {
  readonly type: "web_search";
  readonly [member: string]: unknown;
}
