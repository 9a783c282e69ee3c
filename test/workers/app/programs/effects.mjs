// Effects of the app whose workers are looked at: one that is done at once, one that waits for its end.

import { ToolEffect } from "heddle";

export const effects = {
  echo: new ToolEffect((input) => input),
  hold: new ToolEffect(
    (_input, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  ),
};
