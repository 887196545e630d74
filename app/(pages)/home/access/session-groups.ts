/**
 * The sessions that one button of the page ends, by their name in its form. `verb` is what the button does to them, before
 * their number; `done` is the confirmation afterwards.
 */
export const sessionGroups = {
  browsers: {
    which: { kind: "browser" },
    summary: "Sign out of all other browsers",
    verb: "Sign out of",
    warning:
      "This browser stays signed in. Tokens that were copied in the others end too; apps stay connected.",
    done: "Signed out of all other browsers.",
  },
  apps: {
    which: { kind: "app" },
    summary: "Disconnect all apps",
    verb: "Disconnect",
    warning: "Each app has to be connected again before your assistants can work there.",
    done: "All apps are disconnected.",
  },
  tokens: {
    which: { kind: "program" },
    summary: "End all tokens",
    verb: "End",
    warning: "Programs that use them are refused from their next request on.",
    done: "All tokens have ended.",
  },
  "operator-tokens": {
    which: { kind: "program", begun_by: "operator" },
    summary: "End these tokens",
    verb: "End",
    warning: "Ask the operator if you do not know what they are for.",
    done: "The operator’s tokens have ended.",
  },
} as const;

/** The group of this name, if it names one. */
export function findSessionGroup(name: string) {
  return Object.hasOwn(sessionGroups, name) ? sessionGroups[name as keyof typeof sessionGroups] : undefined;
}
