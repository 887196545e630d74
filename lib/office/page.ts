import type { ReactNode } from "react";
import type { Effect, Preview } from "@/lib/admin/act";
import { enrolPath } from "@/lib/auth/operators";
import { notAnEmail, parseTypedEmail, whyNotAnEmail } from "@/lib/config/email-address";
import type { Operator } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import type { ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

/** A request of a signed-in operator. */
export type OfficeCall = {
  db: Db;
  /** The operator, for the audit. */
  by: Operator;
  nowMs: number;
  /** A field of the form or, if it has none with this name, of the query; trimmed. */
  input: (name: string) => string | undefined;
  /** A field of the form alone, for a form that comes back: a link cannot fill it in. */
  typed: (name: string) => string | undefined;
  /** Why its form comes back. */
  problem?: ApiError | undefined;
};

/** A whole page: a narrow one asks for one thing. */
export type OfficeView = { title: string; content: ReactNode; status?: number | undefined; isNarrow?: true };

/** A page of the office, which changes nothing. */
export type OfficePage = {
  path: `/${string}`;
  /** Its name in the navigation; pages without one are reached from others. */
  name?: string;
  /** The page of the navigation that it belongs to, if it is not there itself. */
  section?: OfficePage["path"];
  /** Its title, if that is not its name. */
  title?: (call: OfficeCall) => string | Promise<string>;
  show: (call: OfficeCall) => Promise<ReactNode>;
  /** The same list as CSV, to be saved. */
  file?: { path: Route["path"]; read: (call: OfficeCall) => AsyncIterable<string> };
  /** What its forms do. It comes back with their refusals. */
  acts?: readonly OfficeAct[];
};

/** What the routes of the office ask for. */
export const office = { site: "office", host: "office", limit: "office" } as const;
export const posts = { ...office, methods: ["POST"], origin: "own" } as const;
export const byOperators = { credential: "operator" } as const;

/** The addresses of sign-in, which need no session, and those of the proof and of signing out. */
export const signInPaths = { enter: "/enter", enrol: enrolPath, proof: "/proof", leave: "/leave" } as const;

/** The route of a form. */
export const formAt = (path: Route["path"]) => ({ ...posts, ...byOperators, path, takes: "office" }) as const;

/** That of one which gives, takes away or speaks to everyone: the operator proves again who they are. */
export const formWithProof = (path: Route["path"]) => ({ ...formAt(path), needsProof: true }) as const;

/** A form's route, and what it does. */
export type OfficeAct = Route & {
  /** What it does, as in "to delete the account". */
  name: string;
  effect?: Effect | undefined;
  /** What `run` would change. Throws an {@link ApiError} for what it would refuse. */
  preview?: (call: OfficeCall) => Promise<Preview | undefined>;
  /** What its page says afterwards. */
  done?: string;
  /** Throws an {@link ApiError} if it changes nothing. Returns what to show or send in place of its page, if anything. */
  run: (call: OfficeCall) => Promise<OfficeView | ResponseParts | undefined> | Promise<void>;
};

/** A path with these parameters; empty ones are left out. */
export function addressOf(path: string, parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path;
}

/** The email that a page or a form is about. Throws an {@link ApiError} if there is none. */
export function requireEmail({ input }: Pick<OfficeCall, "input">): string {
  const typed = input("email") ?? "";
  const email = parseTypedEmail(typed);
  if (email) return email;
  throw invalid(notAnEmail[whyNotAnEmail(typed)]);
}

/** A refusal of what was typed. */
export function invalid(message: string): ApiError {
  return new ApiError("invalid_request", { message, hint: "Nothing was changed." });
}

/** The same of what was typed in one field, which says it too. */
export class FieldError extends ApiError {
  constructor(
    readonly field: string,
    { code, status, message, hint }: ApiError,
  ) {
    super(code, { status, message, hint });
  }
}

/** Whether someone else was first. */
export const isConflict = (problem: ApiError | undefined) => problem?.status === 409;

/** A file to be saved. */
export const asFile = (name: string, mediaType: string, body: AsyncIterable<string>): ResponseParts => ({
  status: 200,
  body,
  mediaType,
  headers: ["content-disposition", `attachment; filename="${name}"`],
});
