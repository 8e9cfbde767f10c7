/** Description of the argument `until`, for the model. */
export const UNTIL_DESCRIPTION =
  'What ends the wait early: "exit", only the end of the process; "output", any new output; "prompt", that the program seems to wait for input, a hint. Default "exit".';
