import { hash } from "node:crypto";
import type * as z from "zod";
import { callerOfToken, identifyCaller } from "@/lib/accounts/caller";
import { answerEntitlement } from "@/lib/accounts/terms/entitlement";
import { listForBackend, readForBackend, setReference } from "@/lib/backend/account-view";
import { type backendRoutes, findBackendRoute } from "@/lib/backend/addresses";
import type { Backend } from "@/lib/backend/backends";
import type { CreditWrite, Outcome } from "@/lib/backend/credit-rules";
import type { WriteRequest } from "@/lib/backend/credit-writes";
import { listAccountEntries, listAllEntries } from "@/lib/backend/entry-list";
import { listEvents } from "@/lib/backend/event-list";
import { inputs, parseInput, parseQuery, queries, readKey } from "@/lib/backend/inputs";
import { findAnswer, type RequestIdentity } from "@/lib/backend/kept-answers";
import { listPlans } from "@/lib/backend/plan-list";
import { Refusal } from "@/lib/backend/refusals";
import { writeCredits } from "@/lib/backend/write-groups";
import { type Db, store } from "@/lib/db/store";
import { Call, sourceOf } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import type { Work } from "@/lib/http/handler";
import { operations } from "@/lib/http/register/operations";
import type { ResponseParts } from "@/lib/http/response";
import type { EntitlementAllowed } from "@/lib/plans/entitlement";

/** The work of each address of the backend API. */
export const endpoints: Record<keyof typeof backendRoutes, Work<Backend>> = {
  async accounts({ query, nowMs }) {
    return answer(await listForBackend(await store(), parseQuery(queries.accounts, query), nowMs));
  },
  async account(call) {
    return answer(await readForBackend(await store(), idOf(call), call.nowMs));
  },
  async accountEntries(call) {
    const { after, limit } = parseQuery(queries.list, call.query);
    const db = await store();
    const { balance } = await readForBackend(db, idOf(call), call.nowMs);
    return answer({ ...(await listAccountEntries(db, idOf(call), after, limit)), balance });
  },
  entries: listed(listAllEntries),
  events: listed(listEvents),
  plans: listed(listPlans),
  checks: check,
  async spends(call, backend) {
    const { credits, ...words } = parseInput(inputs.spends, call.body);
    return writeOne(call, backend, { kind: "spend", account: idOf(call), thousandths: credits, ...words });
  },
  async holds(call, backend) {
    const { credits, ...hold } = parseInput(inputs.holds, call.body);
    return writeOne(call, backend, { kind: "hold", account: idOf(call), thousandths: credits, ...hold });
  },
  async reference(call, backend) {
    const { reference } = parseInput(inputs.reference, call.body);
    const request = toRequest(call, backend);
    return answer(await setReference(await store(), request, { id: idOf(call), reference }, call.nowMs));
  },
  async settle(call, backend) {
    const { credits } = parseInput(inputs.settle, call.body);
    return writeOne(call, backend, { kind: "settle", hold: idOf(call), thousandths: credits });
  },
  async release(call, backend) {
    parseInput(inputs.release, call.body);
    return writeOne(call, backend, { kind: "release", hold: idOf(call) });
  },
  async reverse(call, backend) {
    const { credits, reason } = parseInput(inputs.reverse, call.body);
    return writeOne(call, backend, { kind: "reverse", entry: idOf(call), thousandths: credits, reason });
  },
  async batches(call, backend) {
    const { spends, all: isWhole = false } = parseInput(inputs.batches, call.body);
    const writes = spends.map(({ credits, ...spend }) => ({
      kind: "spend" as const,
      thousandths: credits,
      ...spend,
    }));
    const toAnswer: Wanted["toAnswer"] = (outcomes) => {
      const index = outcomes.findIndex((outcome) => outcome instanceof Refusal);
      const refusal = outcomes[index];
      if (isWhole && refusal instanceof Refusal)
        throw new Refusal(refusal.refusal, { ...refusal.fields, index });
      return { results: outcomes };
    };
    return write(call, backend, { writes, toAnswer });
  },
};

/** The work of a list that is of no account. */
function listed(list: (db: Db, after: string | undefined, limit: number) => Promise<object>): Work<Backend> {
  return async ({ query }) => {
    const { after, limit } = parseQuery(queries.list, query);
    return answer(await list(await store(), after, limit));
  };
}

/**
 * Answers as `GET /api/entitlement` does for the owner of a token, and spends or holds if they may run. That is decided in the
 * transaction that spends, so what ends the session, the trial or the licence comes before it or after it. A denial is that
 * operation's, and charges nothing.
 */
async function check(call: Call, backend: Backend): Promise<ResponseParts> {
  const { token, proof, resource = "api", spend, hold } = parseInput(inputs.checks, call.body);
  const cost = hold ?? spend;
  if (cost) requirePermission(backend, "spend");
  const request = cost && toRequest(call, backend);
  const caller = await identifyCaller(asOwner(call, token, proof), resource);
  let entitlement: EntitlementAllowed;
  try {
    entitlement = await answerEntitlement(caller, call.nowMs);
  } catch (denial) {
    // The token may have expired, or the trial ended, since the first answer.
    const known = request && (await findAnswer(await store(), request));
    if (known) return answer(known);
    throw denial;
  }
  if (!cost || caller.is !== "account" || !caller.session) return answer(entitlement);
  const { account, session } = caller;
  const { credits, ...words } = cost;
  const asked = { account: account.id, thousandths: credits, ...words };
  const wanted: CreditWrite = hold
    ? { ...asked, kind: "hold", expiresInSeconds: hold.expiresInSeconds }
    : { ...asked, kind: "spend" };
  return write(call, backend, {
    writes: [wanted],
    async decide(transaction, nowMs) {
      entitlement = await answerEntitlement(await callerOfToken(transaction, session, nowMs), nowMs);
    },
    toAnswer([outcome]) {
      if (outcome instanceof Error) throw outcome;
      return { ...entitlement, [hold ? "hold" : "entry"]: outcome };
    },
  });
}

/** The request with which the owner of a token would call the public API, or has called the backend. */
function asOwner({ requestId, site }: Call, token: string, proof: Proof): Call {
  const fields = new Map([
    ["authorization", `${proof ? "DPoP" : "Bearer"} ${token}`],
    ["x-request-id", requestId],
    ...(proof ? [["dpop", proof.jwt] as const] : []),
  ]);
  const get = (name: string) => fields.get(name) ?? null;
  const { origin, pathname } = new URL(proof?.url ?? operations.entitlement.path, site.url);
  const source = sourceOf(proof?.method ?? "GET", pathname, {
    get,
    has: (name) => fields.has(name),
    [Symbol.iterator]: () => fields.entries(),
  });
  return new Call(source, { ...site, url: origin });
}

type Proof = z.infer<typeof inputs.checks>["proof"];

function writeOne(call: Call, backend: Backend, asked: CreditWrite): Promise<ResponseParts> {
  const toAnswer: Wanted["toAnswer"] = ([outcome]) => {
    if (outcome instanceof Error) throw outcome;
    return outcome as Outcome;
  };
  return write(call, backend, { writes: [asked], toAnswer });
}

type Wanted = Pick<WriteRequest, "writes" | "decide"> & {
  toAnswer: (outcomes: readonly (Outcome | Error)[]) => object;
};

async function write(call: Call, backend: Backend, { toAnswer, ...wanted }: Wanted): Promise<ResponseParts> {
  const request: WriteRequest = {
    ...toRequest(call, backend),
    ...wanted,
    answer: (outcomes) => JSON.stringify(toAnswer(outcomes)),
  };
  return answer(await writeCredits(await store(), request));
}

/** What tells a request from others, and its repetition by: the address and the bytes of its body. */
function toRequest(call: Call, { id: backend }: Backend): RequestIdentity {
  const keyHash = hash("sha256", readKey(call.headers), "base64url");
  const digest = hash("sha256", Buffer.concat([Buffer.from(`${call.path}\n`), call.body]), "base64url");
  return { backend, keyHash, digest };
}

const answer = (body: object | string): ResponseParts => ({
  status: 200,
  body,
  mediaType: "application/json",
});

const idOf = (call: Call) => findBackendRoute(call.path)?.id ?? "";

/** Throws a 403 unless a backend may do this. */
export function requirePermission({ id, may }: Backend, needed: Backend["may"][number]): void {
  if (may.includes(needed)) return;
  throw new ApiError("forbidden", {
    message: `The backend ${id} may not ${needed === "spend" ? "spend or hold credits" : "read accounts"}.`,
    hint: `Add it again with '--may ${needed}', or use another backend.`,
  });
}
