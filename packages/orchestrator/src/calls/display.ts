/** Whether a call only shows something to a person. */
export const isForDisplay = (toolName: string, { forDisplay }: { forDisplay?: boolean | undefined }): boolean =>
  forDisplay === true && DISPLAY_TOOLS.includes(toolName);

/** Tools that change nothing, not even the output that a model reads next. */
const DISPLAY_TOOLS: readonly string[] = ["list_sessions", "read_output", "read_screen"];
