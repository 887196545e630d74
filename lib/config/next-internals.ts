/*
 * Names of Next that its documentation does not promise. All others in this project are documented. A test compares
 * them with the installed version.
 */

/** The version of Next whose names these are. */
export const testedNextVersion = "16.4.6";

/** The global under which a platform offers `waitUntil`. */
export const platformContext = Symbol.for("@next/request-context");
