/** The addresses that need no session, and that of the proof. */
export const signInPaths = { enter: "/enter", enrol: "/enrol", proof: "/proof", leave: "/leave" } as const;

/** The addresses of a passkey ceremony: for its options, and for what the browser makes of them. */
export function ceremonyAt(path: `/${string}`) {
  return { options: `${path}/options`, done: `${path}/passkey` } as const;
}
