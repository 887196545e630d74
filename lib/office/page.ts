import type { ReactNode } from "react";
import type { Operator as By } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { ApiError } from "@/lib/http/errors";
import type { Operator } from "@/lib/office/operators";

/** A request of a signed-in operator. */
export type OfficeCall = {
  db: Db;
  operator: Operator;
  /** The operator, for the audit. */
  by: By;
  nowMs: number;
  /** A field of the form or, if it has none with this name, of the query; trimmed. */
  input: (name: string) => string | undefined;
  /** Why the act that this page belongs to was refused: its form shows what was typed. */
  problem?: ApiError;
};

export type Shown = { title: string; content: ReactNode; status?: number };

/** A page of the office, which changes nothing. */
export type OfficePage = {
  path: `/${string}`;
  /** Its name in the navigation; pages without one are reached from others. */
  name?: string;
  show: (call: OfficeCall) => Promise<Shown>;
};

/** What a form does. */
export type OfficeAct = {
  path: `/${string}`;
  /** The page with the form, which explains a refusal. */
  page: OfficePage;
  /** It gives, takes away or speaks to everyone, so the operator proves again who they are. */
  needsProof?: true;
  /** Throws an {@link ApiError} if it changes nothing. Returns the address to go to, or what to show. */
  run: (call: OfficeCall) => Promise<string | Shown>;
};

/** The address of a page with these parameters; empty ones are left out. */
export function addressOf(
  { path }: { path: string },
  parameters: Record<string, string | undefined>,
): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path;
}

/** The value of a field: what was typed if its form was refused, otherwise the current value. */
export function fieldValue({ problem, input }: OfficeCall, name: string, current = ""): string {
  return (problem && input(name)) ?? current;
}

/** The address of the page of one account. */
export const accountPath = "/account";
